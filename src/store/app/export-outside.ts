/** What is exported of how the agent is in touch with others: MCP servers and channels. */
import {
  channelConnectionRecord,
  channelIdentityRecord,
} from '#contract/records/agent/channel-connection'
import { channelMessageRecord, channelReplyRecord } from '#contract/records/agent/channel-message'
import { mcpServerRecord } from '#contract/records/agent/mcp-server'
import { mcpToolRecord } from '#contract/records/agent/mcp-tool'
import { type ExportSource, sourceOf } from './export-source.ts'

export const outsideSources = {
  mcp_server: sourceOf(mcpServerRecord),
  mcp_tool: sourceOf(mcpToolRecord),
  channel_reply: sourceOf(channelReplyRecord),
  channel_connection: sourceOf(channelConnectionRecord),
  channel_message: sourceOf(channelMessageRecord, { page: 100 }),
  channel_identity: sourceOf(channelIdentityRecord),
} as const satisfies Record<string, ExportSource>
