/** What is exported of how the agent is in touch with others: MCP servers and channels. */
import { mcpServerRecord } from '#contract/records/agent/mcp-server'
import { mcpToolRecord } from '#contract/records/agent/mcp-tool'
import { exportedOf } from '#contract/records/record'
import { byId, type ExportSource, times } from './export-source.ts'

const channelConnection = [
  ...[
    'id',
    'channel',
    'routing_key',
    'display_name',
    'sender_policy',
    'config',
    'credential_names',
    'status',
    'last_error',
    'failures',
  ],
  ...['checked_at', 'last_in_at', 'last_out_at', ...times],
]
const channelMessage = [
  ...[
    'id',
    'connection_id',
    'state',
    'sender',
    'sender_name',
    'identity_id',
    'thread',
    'is_shared',
    'subject',
    'text',
    'attachments',
  ],
  ...['error', 'job_id', 'conversation_id', ...times],
]
const channelReply = [
  ...[
    'id',
    'connection_id',
    'channel',
    'job_id',
    'message_id',
    'conversation_id',
    'recipient',
    'reply_to',
    'text',
    'parts',
    'status',
    'why',
  ],
  ...['tries', 'error', 'decided_by', 'decided_at', 'sent_at', ...times],
]
const channelIdentity = [
  'id',
  'connection_id',
  'external_id',
  'name',
  'person_id',
  'verified_at',
  ...times,
]
export const outsideSources = {
  mcp_server: { table: 'mcp_server', columns: exportedOf(mcpServerRecord), key: byId },
  mcp_tool: { table: 'mcp_tool', columns: exportedOf(mcpToolRecord), key: byId },
  channel_reply: { table: 'channel_reply', columns: channelReply, key: byId },
  channel_connection: { table: 'channel_connection', columns: channelConnection, key: byId },
  channel_message: { table: 'channel_message', columns: channelMessage, key: byId, page: 100 },
  channel_identity: { table: 'channel_identity', columns: channelIdentity, key: byId },
} as const satisfies Record<string, ExportSource>
