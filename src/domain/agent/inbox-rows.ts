/** The records that a page of the list of what waits is made of. */
import type { Static } from '@sinclair/typebox'
import type { NamedAuthorSchema } from '#contract/shapes'
import type { Engagement } from '../growth/drafting/engagement.ts'
import type { Item } from '../growth/drafting/item.ts'
import type { DraftSource } from '../growth/drafting/source.ts'
import type { Approval } from './job/approval.ts'
import type { PlaybookVersion } from './knowledge/playbook.ts'
import type { McpTool } from './mcp/tool.ts'

type NamedAuthor = Static<typeof NamedAuthorSchema>

interface WaitingAccount {
  id: string
  handle: string
  network: string
}

/** A call of the agent that asks to decide the draft. Times arrive as text. */
export interface AskingCall {
  id: string
  tool_name: string
  expires_at: string
}

type Authored = 'source_kind' | 'source_id' | 'source_name' | 'names' | 'written_by'

/** Rows arrive as JSON, so their times are text. */
export interface WaitingItem
  extends Pick<
    Item,
    | Authored
    | 'id'
    | 'kind'
    | 'status'
    | 'title'
    | 'body'
    | 'marks'
    | 'hook'
    | 'length'
    | 'post_at'
    | 'revision'
    | 'comments'
    | 'account_external_id'
    | 'account_id'
    | 'posting_account'
    | 'repeats'
    | 'avoid'
  > {
  created_at: string
  calls: AskingCall[] | null
}

export interface WaitingEngagement
  extends Pick<
    Engagement,
    | Authored
    | 'id'
    | 'action'
    | 'status'
    | 'network'
    | 'post_author'
    | 'post_text'
    | 'body'
    | 'revision'
  > {
  created_at: string
  calls: AskingCall[] | null
  from_account: WaitingAccount | null
}

export interface WaitingCall
  extends Pick<
    Approval,
    'id' | 'job_id' | 'status' | 'tool_name' | 'summary' | 'arguments' | 'subject'
  > {
  account: WaitingAccount | null
  expires_at: string
  created_at: string
}

export interface WaitingReply {
  id: string
  job_id: string | null
  status: string
  channel: string
  text: string
  is_hidden: boolean
  is_gone: boolean
  created_at: string
}

export interface WaitingVersion
  extends Pick<PlaybookVersion, 'id' | 'content' | 'rationale' | 'number' | 'state'> {
  playbook_id: string
  playbook_name: string
  author: NamedAuthor
  source_kind: DraftSource['source_kind']
  created_at: string
}

export interface WaitingTool extends Pick<McpTool, 'id' | 'name' | 'hash'> {
  server_id: string
  server_name: string
  updated_at: string
}

/** By the kinds of records. Null: the page has none of them. */
export interface WaitingRows {
  item: WaitingItem[] | null
  engagement: WaitingEngagement[] | null
  approval: WaitingCall[] | null
  reply: WaitingReply[] | null
  playbook_version: WaitingVersion[] | null
  mcp_tool: WaitingTool[] | null
}
