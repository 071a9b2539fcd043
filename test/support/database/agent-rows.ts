/** One row of a workspace in each table of the agent. */
import { createHash } from 'node:crypto'
import { approvalRecord } from '#contract/records/agent/approval'
import { artifactRecord, shareRecord } from '#contract/records/agent/artifact'
import {
  channelConnectionRecord,
  channelIdentityRecord,
} from '#contract/records/agent/channel-connection'
import { channelMessageRecord, channelReplyRecord } from '#contract/records/agent/channel-message'
import { conversationRecord, messageRecord } from '#contract/records/agent/conversation'
import { documentRecord, passageRecord } from '#contract/records/agent/document'
import { feedbackRecord } from '#contract/records/agent/feedback'
import { jobRecord } from '#contract/records/agent/job'
import { mcpServerRecord } from '#contract/records/agent/mcp-server'
import { mcpToolRecord } from '#contract/records/agent/mcp-tool'
import { memoryRecord } from '#contract/records/agent/memory'
import { playbookRecord, versionRecord } from '#contract/records/agent/playbook'
import { scheduleRecord } from '#contract/records/agent/schedule'
import { stepRecord } from '#contract/records/agent/step'
import { toolRuleRecord } from '#contract/records/agent/tool-rule'
import { webhookRuleRecord } from '#contract/records/agent/webhook-rule'
import { newId } from '#kernel/ids'
import { type RowsOf, sampleOf } from './sample.ts'

export const agentRows = ({ mark, person, now, tomorrow }: RowsOf) => {
  const times = { created_at: now, updated_at: now }
  const [conversation, job, playbook] = [newId(), newId(), newId()]
  const [webhookRule, file, artifact, share, document, mcpServer] = [
    newId(),
    newId(),
    newId(),
    newId(),
    newId(),
    newId(),
  ]
  const channel = newId()
  return {
    agent_conversation: sampleOf(conversationRecord, mark, { id: conversation, title: mark }),
    agent_message: sampleOf(messageRecord, mark, { conversation_id: conversation }),
    agent_feedback: sampleOf(feedbackRecord, mark, {
      conversation_id: conversation,
      user_id: person,
    }),
    agent_job: sampleOf(jobRecord, mark, {
      id: job,
      kind: 'task',
      conversation_id: conversation,
      root_id: job,
    }),
    agent_step: sampleOf(stepRecord, mark, { job_id: job, state: 'done', started_at: now }),
    agent_approval: sampleOf(approvalRecord, mark, { job_id: job }),
    agent_tool_rule: sampleOf(toolRuleRecord, mark, {}),
    agent_schedule: sampleOf(scheduleRecord, mark, {
      at: now,
      time_zone: 'UTC',
      next_at: tomorrow,
    }),
    file: {
      id: file,
      store: 'postgres',
      byte_size: 1,
      sha256: '0'.repeat(64),
      digests: Buffer.alloc(32),
      kept_at: now,
    },
    artifact: sampleOf(artifactRecord, mark, {
      id: artifact,
      sha256: '0'.repeat(64),
      file_id: file,
    }),
    artifact_share: sampleOf(shareRecord, mark, {
      id: share,
      artifact_id: artifact,
      token_hash: createHash('sha256').update(mark).digest(),
      expires_at: tomorrow,
    }),
    file_block: { file_id: file, number: 0, bytes: Buffer.from('x') },
    webhook_rule: sampleOf(webhookRuleRecord, mark, { id: webhookRule }),
    inbound_event: { source_id: webhookRule, event_id: mark, job_id: job, at: now },
    inbound_route: { kind: 'rule', key: mark, ref_id: webhookRule },
    channel_connection: sampleOf(channelConnectionRecord, mark, {
      id: channel,
      channel: 'dev',
      routing_key: mark,
      status: 'active',
      credentials: Buffer.from(mark),
    }),
    channel_identity: sampleOf(channelIdentityRecord, mark, {
      connection_id: channel,
      person_id: person,
    }),
    channel_link_code: {
      connection_id: channel,
      person_id: person,
      code_hash: mark,
      expires_at: now,
    },
    channel_message: sampleOf(channelMessageRecord, mark, {
      connection_id: channel,
      state: 'taken',
      job_id: job,
      conversation_id: conversation,
    }),
    channel_reply: sampleOf(channelReplyRecord, mark, { connection_id: channel, job_id: job }),
    mcp_server: sampleOf(mcpServerRecord, mark, {
      id: mcpServer,
      status: 'refused',
      headers: Buffer.from(mark),
    }),
    mcp_tool: sampleOf(mcpToolRecord, mark, { server_id: mcpServer }),
    agent_module: { name: mark, mcp: true, set_by: person, ...times },
    playbook: sampleOf(playbookRecord, mark, { id: playbook, slug: mark.slice(-36) }),
    playbook_version: sampleOf(versionRecord, mark, { playbook_id: playbook, state: 'active' }),
    document: sampleOf(documentRecord, mark, { id: document, status: 'ready' }),
    document_passage: sampleOf(passageRecord, mark, { document_id: document, number: 0 }),
    document_word: { word: mark, document_id: document, block: 0, passages: 1 },
    agent_memory: sampleOf(memoryRecord, mark, { scope: 'workspace', configuration: 'simple' }),
    agent_event: { job_id: job, seq: 1, at: now, type: mark, data: {} },
  }
}
