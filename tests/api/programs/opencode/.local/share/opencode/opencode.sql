-- What opencode 1.18.33 left in opencode.db, made small: programs/README.md says how.
CREATE TABLE `project` (
          `id` text PRIMARY KEY,
          `worktree` text NOT NULL,
          `vcs` text,
          `name` text,
          `icon_url` text,
          `icon_url_override` text,
          `icon_color` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_initialized` integer,
          `sandboxes` text NOT NULL,
          `commands` text
        );
CREATE TABLE `session` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `workspace_id` text,
          `parent_id` text,
          `slug` text NOT NULL,
          `directory` text NOT NULL,
          `path` text,
          `title` text NOT NULL,
          `version` text NOT NULL,
          `share_url` text,
          `summary_additions` integer,
          `summary_deletions` integer,
          `summary_files` integer,
          `summary_diffs` text,
          `metadata` text,
          `cost` real DEFAULT 0 NOT NULL,
          `tokens_input` integer DEFAULT 0 NOT NULL,
          `tokens_output` integer DEFAULT 0 NOT NULL,
          `tokens_reasoning` integer DEFAULT 0 NOT NULL,
          `tokens_cache_read` integer DEFAULT 0 NOT NULL,
          `tokens_cache_write` integer DEFAULT 0 NOT NULL,
          `revert` text,
          `permission` text,
          `agent` text,
          `model` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_compacting` integer,
          `time_archived` integer,
          CONSTRAINT `fk_session_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES ('global', '/', 1763986557794, 1763986582361, '[]');
INSERT INTO session (id, project_id, parent_id, slug, directory, path, title, version, summary_additions, summary_deletions, summary_files, cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write, agent, model, time_created, time_updated) VALUES ('ses_df283b4deffe1mRsMSurIpq0jt', 'global', 'ses_df283c3a0ffeCGxL9C4V9345dV', 'quiet-rocket', '/nowhere', 'nowhere', 'Look around (@general subagent)', '1.18.33', 0, 0, 0, 0.0, 20, 10, 0, 0, 0, 'general', '{"id":"talker-1","providerID":"stub","variant":"default"}', 1763986579233, 1763986579926);
INSERT INTO session (id, project_id, slug, directory, path, title, version, summary_additions, summary_deletions, summary_files, cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write, agent, model, time_created, time_updated) VALUES ('ses_df283c3a0ffeCGxL9C4V9345dV', 'global', 'proud-moon', '/nowhere', 'nowhere', 'Notes for the shop', '1.18.33', 0, 0, 0, 0.0, 20, 10, 0, 0, 0, 'build', '{"id":"talker-1","providerID":"stub","variant":"default"}', 1763986575455, 1763986580122);
INSERT INTO session (id, project_id, slug, directory, path, title, version, summary_additions, summary_deletions, summary_files, cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write, agent, model, time_created, time_updated) VALUES ('ses_df2840387ffeh4CcaPUHeKX643', 'global', 'sunny-circuit', '/nowhere', 'nowhere', 'Notes for the shop', '1.18.33', 0, 0, 0, 0.0, 30, 15, 0, 0, 0, 'build', '{"id":"talker-1","providerID":"stub","variant":"default"}', 1763986559096, 1763986572058);
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES ('msg_20d7bfd72001RlXMK75YJlaDLB', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986559346, 1763986563693, '{"role":"user","time":{"created":1763986559346},"agent":"build","model":{"providerID":"stub","modelID":"talker-1"},"summary":{"diffs":[]}}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES ('msg_20d7c05d0001vGXLpyODuty7Zw', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986561488, 1763986563621, '{"parentID":"msg_20d7bfd72001RlXMK75YJlaDLB","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/nowhere","root":"/"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"talker-1","providerID":"stub","time":{"created":1763986561488,"completed":1763986563619},"finish":"tool-calls"}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES ('msg_20d7c0e2c001ENxBaNdsYsyqXT', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986563628, 1763986563976, '{"parentID":"msg_20d7bfd72001RlXMK75YJlaDLB","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/nowhere","root":"/"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"talker-1","providerID":"stub","time":{"created":1763986563628,"completed":1763986563975},"finish":"stop"}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES ('msg_20d7c1ec0001vmdfeN4WxARcFy', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986567872, 1763986570133, '{"role":"user","time":{"created":1763986567872},"agent":"build","model":{"providerID":"stub","modelID":"talker-1"},"summary":{"diffs":[]}}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES ('msg_20d7c2730001e8V59LiU2Y04lL', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986570032, 1763986571995, '{"parentID":"msg_20d7c1ec0001vmdfeN4WxARcFy","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/nowhere","root":"/"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"talker-1","providerID":"stub","time":{"created":1763986570032,"completed":1763986571989},"finish":"stop"}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES ('msg_20d7c3d15001zexnTbWX3OBuLw', 'ses_df283c3a0ffeCGxL9C4V9345dV', 1763986575637, 1763986579943, '{"role":"user","time":{"created":1763986575637},"agent":"build","model":{"providerID":"stub","modelID":"talker-1"},"summary":{"diffs":[]}}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES ('msg_20d7c4491001dmQfcAFkJj36dV', 'ses_df283c3a0ffeCGxL9C4V9345dV', 1763986577553, 1763986579910, '{"parentID":"msg_20d7c3d15001zexnTbWX3OBuLw","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/nowhere","root":"/"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"talker-1","providerID":"stub","time":{"created":1763986577553,"completed":1763986579905},"finish":"tool-calls"}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES ('msg_20d7c4b3b001FP09687xgnLl21', 'ses_df283b4deffe1mRsMSurIpq0jt', 1763986579260, 1763986579934, '{"role":"user","time":{"created":1763986579260},"agent":"general","model":{"providerID":"stub","modelID":"talker-1"},"summary":{"diffs":[]}}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES ('msg_20d7c4b78001uZq6tFacDJfq05', 'ses_df283b4deffe1mRsMSurIpq0jt', 1763986579321, 1763986579721, '{"parentID":"msg_20d7c4b3b001FP09687xgnLl21","role":"assistant","mode":"general","agent":"general","path":{"cwd":"/nowhere","root":"/"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"talker-1","providerID":"stub","time":{"created":1763986579321,"completed":1763986579720},"finish":"tool-calls"}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES ('msg_20d7c4d0c001g5Pm7f04c7JEWY', 'ses_df283b4deffe1mRsMSurIpq0jt', 1763986579724, 1763986579875, '{"parentID":"msg_20d7c4b3b001FP09687xgnLl21","role":"assistant","mode":"general","agent":"general","path":{"cwd":"/nowhere","root":"/"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"talker-1","providerID":"stub","time":{"created":1763986579724,"completed":1763986579874},"finish":"stop"}');
INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES ('msg_20d7c4dc8001X6gBQ0fpdXO6r7', 'ses_df283c3a0ffeCGxL9C4V9345dV', 1763986579912, 1763986580055, '{"parentID":"msg_20d7c3d15001zexnTbWX3OBuLw","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/nowhere","root":"/"},"cost":0,"tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"talker-1","providerID":"stub","time":{"created":1763986579912,"completed":1763986580054},"finish":"stop"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7bfd83001KPb4X1Yxo5FDCP', 'msg_20d7bfd72001RlXMK75YJlaDLB', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986561444, 1763986561451, '{"type":"text","text":"\"Please list the files.\""}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c0cba001HxRHMQaI4AwEzm', 'msg_20d7c05d0001vGXLpyODuty7Zw', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986563259, 1763986563261, '{"type":"step-start"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c0cc7001ykA048w1uA9jmD', 'msg_20d7c05d0001vGXLpyODuty7Zw', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986563272, 1763986563292, '{"type":"reasoning","text":"A listing will do.","time":{"start":1763986563271,"end":1763986563285}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c0ce2001zSOEIGcmN2CqQA', 'msg_20d7c05d0001vGXLpyODuty7Zw', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986563299, 1763986563363, '{"type":"text","text":"I look.","time":{"start":1763986563299,"end":1763986563357}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c0cec00178RtFdrOim3Dfv', 'msg_20d7c05d0001vGXLpyODuty7Zw', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986563308, 1763986563592, '{"type":"tool","tool":"bash","callID":"call_0","state":{"status":"completed","input":{"command":"ls","description":"Lists files"},"output":"dot.png\nnotes.txt\n","metadata":{"output":"dot.png\nnotes.txt\n","exit":0,"truncated":false},"title":"ls","time":{"start":1763986563340,"end":1763986563584}}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c0e100018zWV8sBDH7coC0', 'msg_20d7c05d0001vGXLpyODuty7Zw', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986563600, 1763986563606, '{"reason":"tool-calls","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c0f67001egwvQaaNgfM2Oq', 'msg_20d7c0e2c001ENxBaNdsYsyqXT', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986563943, 1763986563945, '{"type":"step-start"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c0f6e001A0Qr0dUDzF7ICt', 'msg_20d7c0e2c001ENxBaNdsYsyqXT', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986563951, 1763986563959, '{"type":"text","text":"There are two files.","time":{"start":1763986563950,"end":1763986563953}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c0f78001v1JmJri3Y5HMKu', 'msg_20d7c0e2c001ENxBaNdsYsyqXT', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986563960, 1763986563967, '{"reason":"stop","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c2645001jo02mOT2gZ1qPt', 'msg_20d7c1ec0001vmdfeN4WxARcFy', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986569888, 1763986569894, '{"type":"text","synthetic":true,"text":"Called the Read tool with the following input: {\"filePath\":\"/nowhere/notes.txt\"}"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c2645002auOxQc8Kqf9QR2', 'msg_20d7c1ec0001vmdfeN4WxARcFy', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986569896, 1763986569897, '{"type":"text","synthetic":true,"text":"<path>/nowhere/notes.txt</path>\n<type>file</type>\n<content>\n1: Buy tea.\n\n(End of file - total 1 lines)\n</content>"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c2645003ztUbjq55Fuizkb', 'msg_20d7c1ec0001vmdfeN4WxARcFy', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986569907, 1763986569909, '{"type":"file","mime":"text/plain","filename":"notes.txt","url":"file:///nowhere/notes.txt"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c26450047PRhrhEhLJAEoZ', 'msg_20d7c1ec0001vmdfeN4WxARcFy', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986569914, 1763986569916, '{"type":"text","synthetic":true,"text":"Called the Read tool with the following input: {\"filePath\":\"/nowhere/dot.png\"}"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c2645005uEYYoBn7C7GcyF', 'msg_20d7c1ec0001vmdfeN4WxARcFy', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986569917, 1763986569927, '{"type":"text","synthetic":true,"text":"Image read successfully"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c2645006tyrGY21auRhyCS', 'msg_20d7c1ec0001vmdfeN4WxARcFy', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986569938, 1763986569939, '{"type":"file","mime":"image/png","url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==","synthetic":true,"filename":"dot.png"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c2645007Sio7ZKMafgv0Yn', 'msg_20d7c1ec0001vmdfeN4WxARcFy', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986569941, 1763986569947, '{"type":"text","text":"\"What do my notes say?\""}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c2e9a001wR62isHwBc3Phb', 'msg_20d7c2730001e8V59LiU2Y04lL', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986571930, 1763986571932, '{"type":"step-start"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c2ea300193dGYBRUGXAA5F', 'msg_20d7c2730001e8V59LiU2Y04lL', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986571939, 1763986571955, '{"type":"text","text":"It says: buy tea.","time":{"start":1763986571939,"end":1763986571948}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c2ebe001Daio45ZrC1fkuz', 'msg_20d7c2730001e8V59LiU2Y04lL', 'ses_df2840387ffeh4CcaPUHeKX643', 1763986571966, 1763986571968, '{"reason":"stop","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c3d28001D7oxYsv7a3i5ZP', 'msg_20d7c3d15001zexnTbWX3OBuLw', 'ses_df283c3a0ffeCGxL9C4V9345dV', 1763986577510, 1763986577512, '{"type":"text","text":"\"Have the explorer do a task.\""}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4b00001PunbcZNvOdNoT5', 'msg_20d7c4491001dmQfcAFkJj36dV', 'ses_df283c3a0ffeCGxL9C4V9345dV', 1763986579201, 1763986579202, '{"type":"step-start"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4b06001Ksk87c1zz4CcAH', 'msg_20d7c4491001dmQfcAFkJj36dV', 'ses_df283c3a0ffeCGxL9C4V9345dV', 1763986579206, 1763986579308, '{"type":"text","text":"I ask another agent.","time":{"start":1763986579206,"end":1763986579306}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4b09001tHxnLHrOfWPtKG', 'msg_20d7c4491001dmQfcAFkJj36dV', 'ses_df283c3a0ffeCGxL9C4V9345dV', 1763986579209, 1763986579895, '{"type":"tool","tool":"task","callID":"call_0","state":{"status":"completed","input":{"description":"Look around","prompt":"List the files.","subagent_type":"general"},"output":"<task id=\"ses_df283b4deffe1mRsMSurIpq0jt\" state=\"completed\">\n<task_result>\nThere are two files.\n</task_result>\n</task>","metadata":{"parentSessionId":"ses_df283c3a0ffeCGxL9C4V9345dV","sessionId":"ses_df283b4deffe1mRsMSurIpq0jt","model":{"modelID":"talker-1","providerID":"stub"},"truncated":false},"title":"Look around","time":{"start":1763986579246,"end":1763986579894}}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4b440015lc1Wom5zKIWlk', 'msg_20d7c4b3b001FP09687xgnLl21', 'ses_df283b4deffe1mRsMSurIpq0jt', 1763986579275, 1763986579276, '{"type":"text","text":"List the files."}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4be4001UJDTXPff4Av3UC', 'msg_20d7c4b78001uZq6tFacDJfq05', 'ses_df283b4deffe1mRsMSurIpq0jt', 1763986579428, 1763986579429, '{"type":"step-start"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4beb001TbsoKnwJdeJ9T4', 'msg_20d7c4b78001uZq6tFacDJfq05', 'ses_df283b4deffe1mRsMSurIpq0jt', 1763986579435, 1763986579440, '{"type":"reasoning","text":"A listing will do.","time":{"start":1763986579435,"end":1763986579440}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4bf1001M4H0hCvS1JsiTV', 'msg_20d7c4b78001uZq6tFacDJfq05', 'ses_df283b4deffe1mRsMSurIpq0jt', 1763986579441, 1763986579479, '{"type":"text","text":"I look.","time":{"start":1763986579441,"end":1763986579476}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4bfa001cJ3W1nP4o49tNS', 'msg_20d7c4b78001uZq6tFacDJfq05', 'ses_df283b4deffe1mRsMSurIpq0jt', 1763986579451, 1763986579698, '{"type":"tool","tool":"bash","callID":"call_0","state":{"status":"completed","input":{"command":"ls","description":"Lists files"},"output":"dot.png\nnotes.txt\n","metadata":{"output":"dot.png\nnotes.txt\n","exit":0,"truncated":false},"title":"ls","time":{"start":1763986579462,"end":1763986579695}}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4cf5001p8sHcDuu4zQOS5', 'msg_20d7c4b78001uZq6tFacDJfq05', 'ses_df283b4deffe1mRsMSurIpq0jt', 1763986579701, 1763986579707, '{"reason":"tool-calls","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4d86001zAvnPGxjP7sRor', 'msg_20d7c4d0c001g5Pm7f04c7JEWY', 'ses_df283b4deffe1mRsMSurIpq0jt', 1763986579846, 1763986579847, '{"type":"step-start"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4d89001sjX4GQj2Rk1xpP', 'msg_20d7c4d0c001g5Pm7f04c7JEWY', 'ses_df283b4deffe1mRsMSurIpq0jt', 1763986579849, 1763986579857, '{"type":"text","text":"There are two files.","time":{"start":1763986579849,"end":1763986579856}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4d96001weifru8xaQlYE4', 'msg_20d7c4d0c001g5Pm7f04c7JEWY', 'ses_df283b4deffe1mRsMSurIpq0jt', 1763986579863, 1763986579867, '{"reason":"stop","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4db9001x4XteeCjx3KVcN', 'msg_20d7c4491001dmQfcAFkJj36dV', 'ses_df283c3a0ffeCGxL9C4V9345dV', 1763986579897, 1763986579902, '{"reason":"tool-calls","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4e3b001EVvTl5RESjH8A3', 'msg_20d7c4dc8001X6gBQ0fpdXO6r7', 'ses_df283c3a0ffeCGxL9C4V9345dV', 1763986580027, 1763986580028, '{"type":"step-start"}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4e42001dPkJvh2nOHJGpZ', 'msg_20d7c4dc8001X6gBQ0fpdXO6r7', 'ses_df283c3a0ffeCGxL9C4V9345dV', 1763986580034, 1763986580037, '{"type":"text","text":"There are two files.","time":{"start":1763986580034,"end":1763986580036}}');
INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES ('prt_20d7c4e4a0017I7paMv6dp4zl4', 'msg_20d7c4dc8001X6gBQ0fpdXO6r7', 'ses_df283c3a0ffeCGxL9C4V9345dV', 1763986580042, 1763986580043, '{"reason":"stop","type":"step-finish","tokens":{"total":15,"input":10,"output":5,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
