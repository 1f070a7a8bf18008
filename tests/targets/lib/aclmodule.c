// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stand-in for the vendor's Python module: `import acl` gives acl.prof.*, which call the C
 * functions through ordinary dynamic linkage. Written to the limited API: one file for every
 * Python 3 from 3.7.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03070000
#include <Python.h>

#include "acl_prof.h"

static PyObject *create_stamp(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	return PyLong_FromUnsignedLongLong((uintptr_t)aclprofCreateStamp());
}

/* One unsigned argument that is a pointer or an id; false with an exception set. */
static int parse_number(PyObject *args, unsigned long long *out)
{
	return PyArg_ParseTuple(args, "K", out);
}

static PyObject *set_stamp_trace_message(PyObject *self, PyObject *args)
{
	unsigned long long stamp;
	unsigned int len;
	Py_ssize_t size;
	const char *msg;

	(void)self;
	if (!PyArg_ParseTuple(args, "Ks#I", &stamp, &msg, &size, &len))
		return NULL;
	return PyLong_FromLong(aclprofSetStampTraceMessage((void *)(uintptr_t)stamp, msg, len));
}

static PyObject *mark(PyObject *self, PyObject *args)
{
	unsigned long long stamp;

	(void)self;
	if (!parse_number(args, &stamp))
		return NULL;
	return PyLong_FromLong(aclprofMark((void *)(uintptr_t)stamp));
}

static PyObject *push(PyObject *self, PyObject *args)
{
	unsigned long long stamp;

	(void)self;
	if (!parse_number(args, &stamp))
		return NULL;
	return PyLong_FromLong(aclprofPush((void *)(uintptr_t)stamp));
}

static PyObject *pop(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	return PyLong_FromLong(aclprofPop());
}

static PyObject *range_start(PyObject *self, PyObject *args)
{
	unsigned long long stamp;
	uint32_t id = 0;
	aclError ret;

	(void)self;
	if (!parse_number(args, &stamp))
		return NULL;
	ret = aclprofRangeStart((void *)(uintptr_t)stamp, &id);
	return Py_BuildValue("(Ii)", id, ret);
}

static PyObject *range_stop(PyObject *self, PyObject *args)
{
	unsigned long long id;

	(void)self;
	if (!parse_number(args, &id))
		return NULL;
	return PyLong_FromLong(aclprofRangeStop((uint32_t)id));
}

static PyObject *destroy_stamp(PyObject *self, PyObject *args)
{
	unsigned long long stamp;

	(void)self;
	if (!parse_number(args, &stamp))
		return NULL;
	aclprofDestroyStamp((void *)(uintptr_t)stamp);
	return PyLong_FromLong(0);
}

static PyObject *mark_ex(PyObject *self, PyObject *args)
{
	unsigned long long stream;
	Py_ssize_t size;
	const char *msg;

	(void)self;
	if (!PyArg_ParseTuple(args, "s#K", &msg, &size, &stream))
		return NULL;
	return PyLong_FromLong(aclprofMarkEx(msg, (size_t)size, (aclrtStream)(uintptr_t)stream));
}

static PyMethodDef prof_methods[] = {
	{"create_stamp", create_stamp, METH_NOARGS, "create_stamp() -> stamp, 0 = failed"},
	{"set_stamp_trace_message", set_stamp_trace_message, METH_VARARGS,
	 "set_stamp_trace_message(stamp, msg, msg_len) -> ret"},
	{"mark", mark, METH_VARARGS, "mark(stamp) -> ret"},
	{"push", push, METH_VARARGS, "push(stamp) -> ret"},
	{"pop", pop, METH_NOARGS, "pop() -> ret"},
	{"range_start", range_start, METH_VARARGS, "range_start(stamp) -> (range_id, ret)"},
	{"range_stop", range_stop, METH_VARARGS, "range_stop(range_id) -> ret"},
	{"destroy_stamp", destroy_stamp, METH_VARARGS, "destroy_stamp(stamp) -> ret"},
	{"mark_ex", mark_ex, METH_VARARGS, "mark_ex(msg, stream) -> ret"},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef prof_module = {PyModuleDef_HEAD_INIT, .m_name = "acl.prof", .m_size = -1,
					 .m_methods = prof_methods};

static struct PyModuleDef acl_module = {PyModuleDef_HEAD_INIT, .m_name = "acl", .m_size = -1};

PyMODINIT_FUNC PyInit_acl(void);

PyMODINIT_FUNC PyInit_acl(void)
{
	PyObject *acl = PyModule_Create(&acl_module);
	PyObject *prof = PyModule_Create(&prof_module);

	if (!acl || !prof || PyModule_AddObject(acl, "prof", prof)) {
		Py_XDECREF(prof);
		Py_XDECREF(acl);
		return NULL;
	}
	return acl;
}
