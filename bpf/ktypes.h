/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few kernel structures that process following reads, with the fields it reads; CO-RE finds
 * their real places on the running kernel.
 */
#ifndef ACLTAP_KTYPES_H
#define ACLTAP_KTYPES_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct super_block {
	unsigned int s_dev;
};

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
};

struct mm_struct {
	struct file *exe_file;
	unsigned long saved_auxv[1];
};

struct path {
	void *mnt;
	void *dentry;
};

struct fs_struct {
	struct path root;
};

struct signal_struct {
	atomic_t live;
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct task_struct {
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct fs_struct *fs;
	unsigned int in_execve : 1;
	char comm[16];
};

#pragma clang attribute pop

#endif
