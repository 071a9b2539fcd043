/** What an export has of the agent's connections to others: MCP servers and channels. */
import {
  channelConnectionRecord,
  channelIdentityRecord,
} from '#contract/records/agent/channel-connection'
import { channelMessageRecord, channelReplyRecord } from '#contract/records/agent/channel-message'
import { mcpServerRecord } from '#contract/records/agent/mcp-server'
import { mcpToolRecord } from '#contract/records/agent/mcp-tool'
import { type ExportSource, exportSourceOf } from './export-source.ts'

export const outsideSources = {
  mcp_server: exportSourceOf(mcpServerRecord),
  mcp_tool: exportSourceOf(mcpToolRecord),
  channel_reply: exportSourceOf(channelReplyRecord),
  channel_connection: exportSourceOf(channelConnectionRecord),
  channel_message: exportSourceOf(channelMessageRecord, { page: 100 }),
  channel_identity: exportSourceOf(channelIdentityRecord),
} as const satisfies Record<string, ExportSource>
