// SPDX-License-Identifier: GPL-2.0-only
#include "sink/pftrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/intern.h"
#include "sink/perfetto.pb-c.h"
#include "sink/repair.h"

#define CLOCK_ID_REALTIME 1
#define CLOCK_ID_MONOTONIC 3
#define CLOCK_ID_BOOTTIME 6

#define SEQUENCE_EVENTS 1
#define SEQUENCE_LOSSES 2

#define STARTS_ANEW 1 /* sequence_flags */
#define NEEDS_NAMES 2

#define NAMES_MAX (64u << 10) /* then interning starts anew */
#define NAMES_BYTES (8u << 20)

#define KINDS (SPAN_MARKER_EX + 1)

static const char *const key_names[PF_KEYS] = {
	[PF_STATUS] = "status",
	[PF_CATEGORY] = "category",
	[PF_CATEGORY_NAME] = "category_name",
	[PF_PAYLOAD_TYPE] = "payload_type",
	[PF_PAYLOAD] = "payload",
	[PF_RET] = "ret",
	[PF_START_TID] = "start_tid",
	[PF_END_TID] = "end_tid",
	[PF_DOMAIN] = "domain",
	[PF_UNREADABLE] = "unreadable",
	[PF_CUT] = "cut",
	[PF_COUNT] = "count",
	[PF_PID] = "pid",
};

struct text {
	char *s;
	size_t cap;
};

struct pftrace {
	struct out *out;
	struct intern *names;
	struct repair repair;
	uint64_t next_name; /* never used twice, not even when interning starts anew */
	uint32_t clock_id;  /* of events; 0 = the reader's default */
	uint8_t *buf;
	size_t cap;
	struct text texts[PF_NOTES_MAX + 1]; /* terminated copies: notes, then the name */
};

int pftrace_new(struct out *o, struct pftrace **out)
{
	struct pftrace *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	err = intern_new(NAMES_MAX, NAMES_BYTES, &p->names);
	if (err) {
		free(p);
		return err;
	}
	p->out = o;
	p->next_name = 1;
	*out = p;
	return 0;
}

void pftrace_free(struct pftrace *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < sizeof(p->texts) / sizeof(p->texts[0]); i++)
		free(p->texts[i].s);
	intern_free(p->names);
	repair_free(&p->repair);
	free(p->buf);
	free(p);
}

/* Trace.packet: its tag, its length, its bytes. */
static int write_packet(struct pftrace *p, const Pf__TracePacket *packet)
{
	size_t n = pf__trace_packet__get_packed_size(packet), len = n;
	uint8_t head[12] = {1 << 3 | 2};
	size_t head_len = 1;

	if (n > p->cap) {
		uint8_t *buf = realloc(p->buf, 2 * n);

		if (!buf)
			return -ENOMEM;
		p->buf = buf;
		p->cap = 2 * n;
	}
	do {
		head[head_len++] = (uint8_t)((len & 0x7f) | (len > 0x7f ? 0x80 : 0));
		len >>= 7;
	} while (len);
	out_write(p->out, head, head_len);
	out_write(p->out, p->buf, pf__trace_packet__pack(packet, p->buf));
	return out_error(p->out);
}

static Pf__TracePacket packet_of(uint32_t sequence)
{
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;

	packet.has_trusted_packet_sequence_id = true;
	packet.trusted_packet_sequence_id = sequence;
	return packet;
}

/* ---- Texts --------------------------------------------------------------------------------- */

/* A valid, terminated copy of a text. NULL: no memory. */
static char *copy_text(struct pftrace *p, struct text *t, const char *s, size_t n)
{
	if (repair_text(&p->repair, &s, &n))
		return NULL;
	if (n + 1 > t->cap) {
		char *room = realloc(t->s, 2 * n + 64);

		if (!room)
			return NULL;
		t->s = room;
		t->cap = 2 * n + 64;
	}
	if (n)
		memcpy(t->s, s, n);
	t->s[n] = '\0';
	return t->s;
}

struct name_list {
	Pf__InternedName entries[PF_KEYS];
	Pf__InternedName *list[PF_KEYS];
};

static void add_name(struct name_list *l, size_t i, uint64_t iid, const char *name)
{
	l->entries[i] = (Pf__InternedName)PF__INTERNED_NAME__INIT;
	l->entries[i].has_iid = true;
	l->entries[i].iid = iid;
	l->entries[i].name = (char *)name;
	l->list[i] = &l->entries[i];
}

/* What all events refer to: kinds as categories, keys of annotations, and the clock. */
static int write_base(struct pftrace *p)
{
	Pf__TracePacket packet = packet_of(SEQUENCE_EVENTS);
	Pf__InternedData data = PF__INTERNED_DATA__INIT;
	Pf__TracePacketDefaults defaults = PF__TRACE_PACKET_DEFAULTS__INIT;
	struct name_list kinds, keys;

	for (size_t i = 0; i < KINDS; i++)
		add_name(&kinds, i, i + 1, span_kind_name((enum span_kind)i));
	for (size_t i = 0; i < PF_KEYS; i++)
		add_name(&keys, i, i + 1, key_names[i]);
	data.n_event_categories = KINDS;
	data.event_categories = kinds.list;
	data.n_debug_annotation_names = PF_KEYS;
	data.debug_annotation_names = keys.list;
	packet.interned_data = &data;
	packet.has_sequence_flags = true;
	packet.sequence_flags = STARTS_ANEW;
	if (p->clock_id) {
		defaults.has_timestamp_clock_id = true;
		defaults.timestamp_clock_id = p->clock_id;
		packet.trace_packet_defaults = &defaults;
	}
	return write_packet(p, &packet);
}

/* The number of a name; *text is set when the packet must bring the name itself. */
static int name_id(struct pftrace *p, const char *s, size_t n, uint64_t *iid, char **text)
{
	int err;

	*text = NULL;
	*iid = intern_find(p->names, s, n);
	if (*iid)
		return 0;
	err = intern_add(p->names, s, n, p->next_name);
	if (err == -ENOSPC) {
		intern_clear(p->names);
		err = write_base(p);
		if (!err)
			err = intern_add(p->names, s, n, p->next_name);
	}
	if (err)
		return err;
	*iid = p->next_name++;
	*text = copy_text(p, &p->texts[PF_NOTES_MAX], s, n);
	return *text ? 0 : -ENOMEM;
}

/* ---- Packets ------------------------------------------------------------------------------- */

static int write_clocks(struct pftrace *p, const struct clock_triple *t)
{
	const uint32_t ids[3] = {CLOCK_ID_REALTIME, CLOCK_ID_MONOTONIC, CLOCK_ID_BOOTTIME};
	const uint64_t times[3] = {t->real_ns, t->mono_ns, t->boot_ns};
	Pf__TracePacket packet = packet_of(SEQUENCE_EVENTS);
	Pf__ClockSnapshot snapshot = PF__CLOCK_SNAPSHOT__INIT;
	Pf__ClockSnapshot__Clock clocks[3], *list[3];

	for (int i = 0; i < 3; i++) {
		clocks[i] = (Pf__ClockSnapshot__Clock)PF__CLOCK_SNAPSHOT__CLOCK__INIT;
		clocks[i].has_clock_id = clocks[i].has_timestamp = true;
		clocks[i].clock_id = ids[i];
		clocks[i].timestamp = times[i];
		list[i] = &clocks[i];
	}
	snapshot.n_clocks = 3;
	snapshot.clocks = list;
	packet.clock_snapshot = &snapshot;
	return write_packet(p, &packet);
}

int pftrace_begin(struct pftrace *p, const struct clock_triple *first)
{
	int err = 0;

	/* Without all three, a reader could not place the monotonic clock: then it is the only. */
	if (first->real_ns && first->mono_ns && first->boot_ns) {
		p->clock_id = CLOCK_ID_MONOTONIC;
		err = write_clocks(p, first);
	}
	return err ? err : write_base(p);
}

int pftrace_clocks(struct pftrace *p, const struct clock_triple *t)
{
	return p->clock_id ? write_clocks(p, t) : 0;
}

/* Tells which process or thread a track stands for. */
static int describe(struct pftrace *p, const struct pf_track *t, Pf__TrackDescriptor *d,
		    Pf__ProcessDescriptor *process, Pf__ThreadDescriptor *thread, char **cmdline)
{
	char *name = NULL;

	if (t->name && *t->name) {
		name = copy_text(p, &p->texts[0], t->name, strlen(t->name));
		if (!name)
			return -ENOMEM;
	}
	if (t->tid) {
		thread->has_pid = thread->has_tid = true;
		thread->pid = (int32_t)t->pid;
		thread->tid = (int32_t)t->tid;
		thread->thread_name = name;
		d->thread = thread;
	} else if (t->pid) {
		process->has_pid = true;
		process->pid = (int32_t)t->pid;
		process->process_name = name;
		if (t->cmdline && *t->cmdline) {
			*cmdline = copy_text(p, &p->texts[1], t->cmdline, strlen(t->cmdline));
			if (!*cmdline)
				return -ENOMEM;
			process->n_cmdline = 1;
			process->cmdline = cmdline;
		}
		d->process = process;
	} else {
		d->name = name;
		/* Readers put tracks of one name together unless told not to. */
		d->has_sibling_merge_behavior = true;
		d->sibling_merge_behavior = 2;
	}
	return 0;
}

int pftrace_track(struct pftrace *p, const struct pf_track *t)
{
	Pf__TracePacket packet = packet_of(SEQUENCE_EVENTS);
	Pf__TrackDescriptor d = PF__TRACK_DESCRIPTOR__INIT;
	Pf__ProcessDescriptor process = PF__PROCESS_DESCRIPTOR__INIT;
	Pf__ThreadDescriptor thread = PF__THREAD_DESCRIPTOR__INIT;
	Pf__CounterDescriptor counter = PF__COUNTER_DESCRIPTOR__INIT;
	char *cmdline;
	int err;

	d.has_uuid = true;
	d.uuid = t->uuid;
	d.has_parent_uuid = t->parent;
	d.parent_uuid = t->parent;
	err = describe(p, t, &d, &process, &thread, &cmdline);
	if (err)
		return err;
	if (t->counter) {
		counter.has_unit = true;
		counter.unit = 2;
		d.counter = &counter;
	}
	packet.track_descriptor = &d;
	return write_packet(p, &packet);
}

static int annotate(struct pftrace *p, const struct pf_event *ev, Pf__DebugAnnotation *notes,
		    Pf__DebugAnnotation **list)
{
	for (size_t i = 0; i < ev->note_count; i++) {
		const struct pf_note *n = &ev->notes[i];

		notes[i] = (Pf__DebugAnnotation)PF__DEBUG_ANNOTATION__INIT;
		notes[i].has_name_iid = true;
		notes[i].name_iid = (uint64_t)n->key + 1;
		notes[i].has_uint_value = n->type == PF_UINT;
		notes[i].has_int_value = n->type == PF_INT;
		notes[i].has_bool_value = n->type == PF_BOOL;
		if (n->type == PF_UINT)
			notes[i].uint_value = n->u;
		else if (n->type == PF_INT)
			notes[i].int_value = n->i;
		else if (n->type == PF_BOOL)
			notes[i].bool_value = n->b;
		else
			notes[i].string_value =
				copy_text(p, &p->texts[i], n->text, strlen(n->text));
		if (n->type == PF_TEXT && !notes[i].string_value)
			return -ENOMEM;
		list[i] = &notes[i];
	}
	return 0;
}

int pftrace_event(struct pftrace *p, const struct pf_event *ev)
{
	Pf__TracePacket packet = packet_of(SEQUENCE_EVENTS);
	Pf__TrackEvent event = PF__TRACK_EVENT__INIT;
	Pf__InternedData data = PF__INTERNED_DATA__INIT;
	Pf__DebugAnnotation notes[PF_NOTES_MAX], *list[PF_NOTES_MAX];
	struct name_list names;
	uint64_t kind = (uint64_t)(ev->kind + 1), iid;
	char *text = NULL;
	int err = 0;

	packet.has_timestamp = true;
	packet.timestamp = ev->mono_ns;
	packet.has_sequence_flags = true;
	packet.sequence_flags = NEEDS_NAMES;
	packet.track_event = &event;
	event.has_type = true;
	event.type = (Pf__TrackEvent__Type)ev->type;
	event.has_track_uuid = true;
	event.track_uuid = ev->track;
	if (ev->type == PF_END)
		return write_packet(p, &packet);
	event.n_category_iids = ev->kind >= 0;
	event.category_iids = &kind;
	event.n_debug_annotations = ev->note_count;
	event.debug_annotations = list;
	err = annotate(p, ev, notes, list);
	if (!err)
		err = name_id(p, ev->name, ev->name_len, &iid, &text);
	if (err)
		return err;
	event.has_name_iid = true;
	event.name_iid = iid;
	if (text) {
		add_name(&names, 0, iid, text);
		data.n_event_names = 1;
		data.event_names = names.list;
		packet.interned_data = &data;
	}
	return write_packet(p, &packet);
}

int pftrace_lost(struct pftrace *p, uint64_t track, uint64_t mono_ns, uint64_t value)
{
	Pf__TracePacket packet = packet_of(SEQUENCE_LOSSES);
	Pf__TrackEvent event = PF__TRACK_EVENT__INIT;

	packet.has_timestamp = true;
	packet.timestamp = mono_ns;
	packet.has_timestamp_clock_id = p->clock_id;
	packet.timestamp_clock_id = p->clock_id;
	packet.has_previous_packet_dropped = true;
	packet.previous_packet_dropped = true;
	packet.track_event = &event;
	event.has_type = true;
	event.type = PF__TRACK_EVENT__TYPE__TYPE_COUNTER;
	event.has_track_uuid = true;
	event.track_uuid = track;
	event.has_counter_value = true;
	event.counter_value = (int64_t)value;
	return write_packet(p, &packet);
}
