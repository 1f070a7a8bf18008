/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text event scripts: what a trace recorded, one record a line, as a person would write it.
 *
 *   # a comment
 *   TIME PID/TID [lost] VERB [WORD...] [KEY=VALUE...] ["TEXT"]
 *
 *     1000 - clock real=1700000000000000000
 *     1100 7/7 msg stamp=0x10 "forward"
 *     1200 7/7 push stamp=0x10
 *     1300 7/8 start stamp=0x20 id=3       entry, and its return record at the same time
 *     1400 7/7 lost pop                    happened, but its record found no room
 *     1500 7/9 stop id=3
 *     1600 - counts                        WIRE_LOSS for what was lost, WIRE_COUNT for all
 *
 * TIME is monotonic ns; "+N" is N after the line before. "PID" alone means PID/PID, "-" 0/0.
 * Numbers are decimal or 0x, with an optional sign. TEXT and quoted values know \" \\ \n \r \t
 * \0 \xNN. The bookkeeping of the kernel side is done as it would: seq, gap, depth, min_depth.
 *
 * Calls          create  msg "T" stamp= [len=]  mark stamp=  push stamp=  pop  start stamp=
 *                stop id=  destroy stamp=  mark_ex "T" stream= [len=]  category stamp= number=
 *                category_name "T" number=  payload stamp= type= [value= size=]
 *                or any symbol of the table. ret= (start also id= or noid; create: ptr=) adds the
 *                return record at once, at= gives its time; create has only that one.
 * return FUNC    ret= id= noid ptr=           a return record alone
 * fork           child= "COMM"
 * exec           "COMM"
 * exit           last: the process ended with it
 * loaded
 * clock          real= boot=
 * watermark
 * loss FUNC      count= from=; returns: return records
 * count FUNC     calls= lost= lost_returns=
 * losses         WIRE_LOSS for what was lost since the last such line
 * counts         losses, and WIRE_COUNT for every function called
 * fact KEY "T"   name cmdline exe nspid rank local_rank thread user probed unprobed host command
 *                version capture_id boot_id pid_space source shift ended aligned
 * option raw "BYTES"    any bytes in place of a record
 *
 * Flags as words: unreadable cut nostate latestate noid last returns mixed.
 * copy= of push, pop, start, stop: of which copy of the library; sets mixed by itself.
 * Overrides of what is worked out: kind= func= seq= gap= depth= min_depth= arg0= arg1= flags=
 * msg_len= size= (of the whole record).
 */
#ifndef ACLTAP_EVSCRIPT_H
#define ACLTAP_EVSCRIPT_H

#include <stddef.h>

/*
 * Runs the script of len bytes (any bytes): push gets each record, aligned to 8. Returns 0;
 * -EINVAL with the line and the reason in err; -ENOMEM; or what push returned.
 */
int evscript_run(const char *text, size_t len, int (*push)(void *ctx, const void *rec, size_t sz),
		 void *ctx, char *err, size_t errsz);

#endif
