/**
 * All that waits for a person. It is part of the agent, which uses growth: who may decide about a
 * call depends on the tools of the agent.
 */
import type { Static } from '@sinclair/typebox'
import { approvals } from '#contract/agent/approvals'
import { channelReplies } from '#contract/agent/channel-replies'
import { type inbox, inboxKinds } from '#contract/agent/inbox'
import { playbooks } from '#contract/agent/playbooks'
import { toolRules } from '#contract/agent/tools'
import { engagements } from '#contract/growth/engagements'
import { items } from '#contract/growth/items'
import { inboxLimits } from '#contract/inbox-limits'
import { wordsIn } from '#contract/shapes'
import type { ToolBox } from '#decisions/agent/toolbox'
import { warningsFor } from '#decisions/growth/item-warnings'
import { type InboxKind, type InboxRecord, readPlace, writePlace } from '#domain/agent/inbox'
import { type InboxView, inboxEntries } from '#domain/agent/inbox-view'
import { searchWords } from '#domain/growth/drafting/item-words'
import { refuseField } from '#kernel/errors'
import { type FoundPlace, inboxFound, inboxPage } from '#store/agent/inbox'
import { mayRun, type Permitted } from '../engine/access.ts'
import type { Handlers, QueryContext } from '../engine/call.ts'
import { markedPageOf, markedResult } from '../engine/paging.ts'
import { approvalReader } from './approval/reading.ts'
import { mayDecide } from './approval/standing.ts'

type Asked = Static<(typeof inbox.list)['input']>

/** Throws `invalid_input` for a search without any word. */
const wordsOf = ({ q }: Pick<Asked, 'q'>): string[] => {
  if (q === undefined) return []
  const words = searchWords(q)
  if (words.length === 0) refuseField('q', 'has no letters or digits to look for')
  if (words.length > inboxLimits.words)
    refuseField('q', `has ${words.length} different words; the maximum is ${inboxLimits.words}`)
  return words
}

/** The operation by which people decide about each kind of record. */
const deciding: Record<Exclude<InboxRecord, 'approval'>, Permitted> = {
  item: items.approve,
  engagement: engagements.approve,
  reply: channelReplies.send,
  playbook_version: playbooks.activate,
  mcp_tool: toolRules.set,
}

const viewFor = (tools: ToolBox, context: QueryContext): InboxView => ({
  measure: (text, network) =>
    ((network && context.networks.named(network)) || context.networks.first).limits.measure(text),
  warnings: ({ created_at: _, ...item }) => warningsFor(item, context.networks).length,
  mayDecide: (record) => mayRun(deciding[record], context),
  mayDecideCall: (tool) => mayDecide(tools, tool, context.principal),
})

const placeOf = ({ place_kind, place_source, place_key, place_id }: FoundPlace): string =>
  writePlace({ kind: place_kind, source: place_source, key: place_key, id: place_id })

/** Kinds that the caller does not see count as none. */
const everyCount = (found: Partial<Record<InboxKind, number>>): Record<InboxKind, number> =>
  Object.fromEntries(
    inboxKinds.map((kind) => [kind, Math.min(found[kind] ?? 0, inboxLimits.counted)]),
  ) as Record<InboxKind, number>

export const inboxHandlers = ({ tools }: { tools: ToolBox }): Handlers<typeof inbox> => ({
  async list({ kind, account, source, ...input }, context) {
    const { read, principal } = context
    const page = markedPageOf(input, readPlace)
    const filter = {
      kinds: kind === undefined ? inboxKinds : wordsIn<InboxKind>(kind),
      account,
      source,
      words: wordsOf(input),
      as: mayRun(approvals.list, context) ? approvalReader(tools, principal) : null,
    }
    const [row] = await read(inboxPage(filter, { limit: page.limit + 1, after: page.after }))
    const found = inboxFound(row!)
    const { rows, next_cursor } = markedResult(found.places ?? [], page.limit, placeOf)
    return {
      entries: inboxEntries(rows, found, viewFor(tools, context)),
      counts: everyCount(found.counts),
      next_cursor,
    }
  },
})
