/** The entries of the list of what waits, made of its records. Pure. */
import type { Static } from '@sinclair/typebox'
import type { inbox } from '#contract/agent/inbox'
import { inboxLimits } from '#contract/inbox-limits'
import { beginning } from '#kernel/storable'
import { authorshipOf } from '../growth/drafting/authorship.ts'
import { contentMark } from '../growth/drafting/content-mark.ts'
import { marksOfItem } from '../growth/drafting/item-view.ts'
import type { InboxKind, InboxRecord } from './inbox.ts'
import type {
  AskingCall,
  WaitingCall,
  WaitingEngagement,
  WaitingItem,
  WaitingReply,
  WaitingRows,
  WaitingTool,
  WaitingVersion,
} from './inbox-rows.ts'
import { callHash } from './job/approval.ts'
import { GONE, HIDDEN } from './job/views.ts'

export type WaitingEntry = Static<(typeof inbox.list)['output']>['entries'][number]

/** What depends on the reader and on the networks. */
export interface InboxView {
  /** The length of a text, as the network counts; without one, as the first network does. */
  measure(text: string, network: string | undefined): number
  warnings(item: WaitingItem): number
  /** Whether the reader may decide about records of this kind. */
  mayDecide(record: Exclude<InboxRecord, 'approval'>): boolean
  mayDecideCall(tool: string): boolean
}

const MARK_DIGITS = 8

/** The first line that is not blank. */
const firstLine = (text: string): string =>
  beginning(
    text
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? '',
    inboxLimits.title,
  )

type Shared = Pick<WaitingEntry, 'id' | 'status' | 'title'> & { created_at: string } & Partial<
    Omit<WaitingEntry, 'kind' | 'record' | 'mark' | 'created_at'>
  >

type Shown = Omit<WaitingEntry, 'kind' | 'record'>

const entry = ({ created_at, ...shown }: Shared): Shown => ({
  parent: null,
  author: null,
  source: null,
  account: null,
  hook: null,
  length: null,
  revision: null,
  content_hash: null,
  warnings: 0,
  comments: 0,
  calls: [],
  expires_at: null,
  can_decide: false,
  ...shown,
  mark: shown.content_hash?.slice(0, MARK_DIGITS) ?? null,
  created_at: new Date(created_at),
})

const shownCalls = (calls: readonly AskingCall[] | null, view: InboxView) =>
  (calls ?? []).map(({ id, tool_name, expires_at }) => ({
    id,
    tool_name,
    expires_at: new Date(expires_at),
    can_decide: view.mayDecideCall(tool_name),
  }))

const itemEntry = (item: WaitingItem, view: InboxView): Shown => {
  const { source, written_by: author } = authorshipOf({ ...item, decision: null })
  return entry({
    id: item.id,
    status: item.status,
    title: firstLine(item.title ?? item.body),
    author,
    source,
    account: item.posting_account ?? null,
    hook: item.hook === '' ? null : item.hook,
    length: item.length,
    revision: item.revision,
    content_hash: contentMark(item.body, marksOfItem(item)),
    warnings: view.warnings(item),
    comments: item.comments ?? 0,
    calls: shownCalls(item.calls, view),
    can_decide: view.mayDecide('item'),
    created_at: item.created_at,
  })
}

const engagementEntry = (engagement: WaitingEngagement, view: InboxView): Shown => {
  const { action, body, post_author, post_text, network } = engagement
  const { source, written_by: author } = authorshipOf({ ...engagement, decision: null })
  const of = `${action}${post_author === null ? '' : ` @${post_author}`}`
  return entry({
    id: engagement.id,
    status: engagement.status,
    title: body === null ? firstLine(`${of}: ${post_text ?? ''}`) : firstLine(body),
    author,
    source,
    account: engagement.from_account,
    length: body === null ? null : view.measure(body, network),
    revision: engagement.revision,
    content_hash: body === null ? null : contentMark(body),
    calls: shownCalls(engagement.calls, view),
    can_decide: view.mayDecide('engagement'),
    created_at: engagement.created_at,
  })
}

const agentSource = (job: string | null): WaitingEntry['source'] => ({
  kind: 'agent',
  id: job,
  name: null,
})

const callEntry = (call: WaitingCall, view: InboxView): Shown => {
  const { text, sha256 } = call.subject
  return entry({
    id: call.id,
    status: call.status,
    title: firstLine(call.summary),
    author: { kind: 'agent', id: call.job_id, name: null },
    source: agentSource(call.job_id),
    account: call.account,
    length: text === null ? null : view.measure(text, call.account?.network),
    content_hash: sha256 ?? callHash(call),
    calls: [],
    expires_at: new Date(call.expires_at),
    can_decide: view.mayDecideCall(call.tool_name),
    created_at: call.created_at,
  })
}

/** Of a private conversation, those who do not see it know that there is a reply. */
const replyEntry = (reply: WaitingReply, view: InboxView): Shown =>
  entry({
    id: reply.id,
    status: reply.status,
    title: reply.is_hidden ? (reply.is_gone ? GONE : HIDDEN) : firstLine(reply.text),
    author: reply.job_id === null ? null : { kind: 'agent', id: reply.job_id, name: null },
    source: agentSource(reply.job_id),
    content_hash: reply.is_hidden ? null : contentMark(reply.text),
    can_decide: view.mayDecide('reply'),
    created_at: reply.created_at,
  })

const versionEntry = (version: WaitingVersion, view: InboxView): Shown => {
  const { id, name } = version.author
  return entry({
    id: version.id,
    status: version.state,
    title: firstLine(version.rationale ?? version.content),
    parent: { id: version.playbook_id, name: version.playbook_name },
    author: version.author,
    source: { kind: version.source_kind, id, name },
    revision: version.number,
    content_hash: contentMark(version.content),
    can_decide: view.mayDecide('playbook_version'),
    created_at: version.created_at,
  })
}

const toolEntry = (tool: WaitingTool, view: InboxView): Shown =>
  entry({
    id: tool.id,
    status: 'changed',
    title: tool.name,
    parent: { id: tool.server_id, name: tool.server_name },
    content_hash: tool.hash,
    can_decide: view.mayDecide('mcp_tool'),
    created_at: tool.updated_at,
  })

type EntryOf = {
  [R in InboxRecord]: (row: NonNullable<WaitingRows[R]>[number], view: InboxView) => Shown
}

const entryOf: EntryOf = {
  item: itemEntry,
  engagement: engagementEntry,
  approval: callEntry,
  reply: replyEntry,
  playbook_version: versionEntry,
  mcp_tool: toolEntry,
}

interface Place {
  kind: InboxKind
  record: InboxRecord
  place_id: string
}

/** The entries at these places, in their order. */
export const inboxEntries = (
  places: readonly Place[],
  rows: WaitingRows,
  view: InboxView,
): WaitingEntry[] =>
  places.flatMap(({ kind, record, place_id }) => {
    const make = entryOf[record] as (row: { id: string }, view: InboxView) => Shown
    const row = (rows[record] as { id: string }[] | null | undefined)?.find(
      ({ id }) => id === place_id,
    )
    return row ? [{ kind, record, ...make(row, view) }] : []
  })
