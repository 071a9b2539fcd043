import { type Static, Type as T, type TProperties, type TSchema } from '@sinclair/typebox'
import { op } from '../op.ts'
import { EngagementAction, engagementStatuses } from '../records/growth/engagement.ts'
import { ItemStatusSchema } from '../records/growth/item.ts'
import { Id, markUntrusted, nameForModels, nullable, oneOf, record, Time } from '../shapes.ts'

const title = T.String({ description: 'The name, or the start of the text.' })
/**
 * The text of a signal was written by other people, and an engagement names the person it answers.
 */
const othersTitle = markUntrusted(title)

/**
 * A record that an action concerns, by its type. The schema has no title of its own, because this
 * is only the record in short.
 */
const rowOf = <T extends string, S extends TSchema>(
  types: readonly T[],
  status: S,
  words = title,
) =>
  nameForModels(
    { by: 'type', as: { post: 'item', article: 'item' } },
    record({
      id: Id,
      type: oneOf(types),
      title: words,
      status,
      at: { ...Time, description: 'Since when it waits, or when it is due.' },
    }),
  )

const ItemRow = rowOf(['post', 'article'], ItemStatusSchema)
const EngagementRow = rowOf(['engagement'], oneOf(engagementStatuses), othersTitle)
const SignalRow = rowOf(['signal'], oneOf(['open']), othersTitle)
const ExperimentRow = rowOf(['experiment'], oneOf(['running']))
const SlotRow = record(
  { id: T.Null(), type: oneOf(['slot']), title, status: oneOf(['free']), at: Time },
  { title: 'BriefSlot', description: 'A free slot, which is no record: it has a time and no id.' },
)
const ReplyRow = rowOf(['reply'], oneOf(['unknown']))
const NoRow = T.Never({ description: 'The action concerns no records.' })

const id = T.Optional(Id)
const post_at = T.Optional(oneOf(['next_slot']))

/**
 * What an action of these kinds says: the known arguments of its operation for the first record,
 * and its records.
 */
const actionOf = <K extends string, R extends TSchema>(
  name: string,
  { kinds, row, known, word }: { kinds: readonly K[]; row: R; known: TProperties; word: string },
) =>
  record(
    {
      kind: oneOf(kinds),
      title: T.String(),
      why: T.String(),
      score: T.Integer({ description: 'Higher is more urgent. The list is sorted by score.' }),
      count: T.Integer({ description: 'How many records the action concerns.' }),
      operation: T.String({
        description:
          'The operation to call: one that you may call. For what only others may do, it reads the record.',
      }),
      tool: nullable(
        T.String({ description: 'The MCP tool to call; null when a person must do it.' }),
      ),
      arguments: nameForModels(word, record(known)),
      items: T.Optional(
        T.Array(row, {
          description: 'The first 10 records, with include=items; free slots are all of the week.',
        }),
      ),
    },
    { title: name },
  )

const itemKinds = [
  ...([
    'settle_posts',
    'connect_account',
    'retry_failed_posts',
    'resume_automation',
    'approve_posts',
    'approve_articles',
  ] as const),
  ...(['schedule_posts', 'schedule_articles', 'watch_posts'] as const),
] as const
const engagementKinds = [
  'settle_engagements',
  'approve_engagements',
  'execute_engagements',
] as const
/** Kinds of actions about the workspace itself. */
const otherKinds = [
  ...([
    'fix_billing',
    'reconnect_account',
    'start_profile',
    'raise_quota',
    'raise_budget',
    'draft_posts',
    'complete_profile',
    'run_audit',
    'spare_reads',
  ] as const),
  ...(['connect_first_account', 'refresh_profile'] as const),
] as const

/** The kind of an action determines which records it has. Each kind appears at most once. */
const Action = T.Union([
  actionOf('BriefItemsAction', {
    kinds: itemKinds,
    row: ItemRow,
    word: 'item',
    known: { id, post_at, status: T.Optional(oneOf(['publish_failed', 'publish_unconfirmed'])) },
  }),
  actionOf('BriefEngagementsAction', {
    kinds: engagementKinds,
    row: EngagementRow,
    word: 'engagement',
    known: { id },
  }),
  actionOf('BriefSignalsAction', {
    kinds: ['answer_signals'],
    row: SignalRow,
    word: 'signal',
    known: { id, action: T.Optional(EngagementAction) },
  }),
  actionOf('BriefExperimentAction', {
    kinds: ['conclude_experiment'],
    row: ExperimentRow,
    word: 'experiment',
    known: { id },
  }),
  actionOf('BriefSlotsAction', {
    kinds: ['fill_slots'],
    row: SlotRow,
    word: 'item',
    known: { id, post_at, count: T.Optional(T.Integer()) },
  }),
  actionOf('BriefRepliesAction', {
    kinds: ['settle_replies'],
    row: ReplyRow,
    word: 'reply',
    known: { id },
  }),
  actionOf('BriefWorkspaceAction', {
    kinds: otherKinds,
    row: NoRow,
    word: 'item',
    known: { count: T.Optional(T.Integer()) },
  }),
])
export type ShownBriefAction = Static<typeof Action>

export const brief = {
  get: op.query(
    'GET /api/v1/growth/brief',
    'Read the daily brief. Lists what to do next, most urgent first, each with a reason and the operation to call. Changes nothing.',
    {
      input: {
        include: T.Optional(
          oneOf(['items'], { description: 'Include the records of each action.' }),
        ),
      },
      output: record({ brief: record({ actions: T.Array(Action) }, { title: 'Brief' }) }),
    },
    { tool: 'growth_get_brief', agent: 'read', foreign: true },
  ),
}
