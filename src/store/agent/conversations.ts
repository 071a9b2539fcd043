import { conversationRecord } from '#contract/records/agent/conversation'
import { STRANGERS } from '#domain/agent/channel/trust'
import type { Conversation, Reader, Visibility } from '#domain/agent/conversation'
import type { OpenJobs } from '#domain/agent/job/limits'
import type { ShownConversation } from '#domain/agent/job/views'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'
import { type Asker, isAskedBy } from './askers.ts'
import { isShown } from './visibility.ts'

export const conversationTable = tableOf(conversationRecord)

export const conversationPart = (id: string) =>
  one<Conversation>(
    conversationTable.times,
    (sql) =>
      sql`select ${conversationTable.columns(sql, 'c')} from agent_conversation c where c.id = ${id}`,
  )

/** `knowsAll`: whether they are told that other people's private conversations exist. */
export type Knower = Reader & { knowsAll: boolean }

const isKnown = (sql: Sql, as: Knower): Fragment =>
  as.knowsAll ? sql`c.deleted_at is null` : isShown(sql, as)
const hiddenColumn = (sql: Sql, as: Knower): Fragment => sql`not ${isShown(sql, as)} as is_hidden`

/** A conversation, for readers who see it. */
export const shownConversation = (id: string, as: Reader) =>
  one<Conversation>(
    conversationTable.times,
    (sql) =>
      sql`select ${conversationTable.columns(sql, 'c')} from agent_conversation c where c.id = ${id}
        and ${isShown(sql, as)}`,
  )

/** A conversation, for readers who may delete it. Those with `knowsAll` are told that it exists. */
export const knownConversation = (id: string, as: Knower) =>
  one<ShownConversation>(
    conversationTable.times,
    (sql) =>
      sql`select ${conversationTable.columns(sql, 'c')}, ${hiddenColumn(sql, as)} from agent_conversation c where c.id = ${id}
        and ${isKnown(sql, as)}`,
  )

/** A page in the order of the newest activity. */
export interface ActivityPage {
  limit: number
  after?: { at: Date; id: string } | undefined
}

interface ConversationFilters {
  status?: Conversation['status'] | undefined
  visibility?: Visibility | undefined
  as: Knower
}

export const listConversations =
  ({
    limit,
    after,
    status,
    visibility,
    as,
  }: ActivityPage & ConversationFilters): Query<ShownConversation> =>
  (sql) =>
    sql`select ${conversationTable.columns(sql, 'c')}, ${hiddenColumn(sql, as)} from agent_conversation c
      where ${isKnown(sql, as)}
      ${visibility ? sql`and c.visibility = ${visibility}` : sql``} ${
        status
          ? sql`and c.status =
        ${status}`
          : sql``
      }
      ${after ? sql`and (c.last_at, c.id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql``}
      order by c.last_at desc, c.id desc limit ${limit + 1}`

export interface TurnFacts extends OpenJobs {
  /** Whether a job of the conversation runs, or waits for its turn. */
  is_busy: boolean
  /** Whether a message may contain words of people outside the workspace. */
  has_untrusted: boolean
  /** Whether it is with a stranger, in a channel. */
  is_strangers: boolean
}

/**
 * What the next turn of a conversation depends on. `conversationId`: null for a new one. `asker`:
 * null if nobody asks for the turn.
 */
export const turnFacts = (conversationId: string | null, asker: Asker | null) =>
  sure(
    one<TurnFacts>(
      {},
      (sql) => sql`select count(*)::int as all_jobs, (count(*) filter
        (where j.conversation_id = ${conversationId}))::int as our_jobs,
          (count(*) filter (where ${asker ? isAskedBy(sql, asker) : sql`false`}))::int as
            their_jobs,
          (count(*) filter (where j.typed))::int as all_typed,
          (count(*) filter (where j.typed and j.conversation_id = ${conversationId}))::int as
            our_typed,
          coalesce(bool_or(j.conversation_id = ${conversationId}
            and j.status in ('queued', 'running') and j.held_since is null), false)
            as is_busy,
          exists (select from agent_message m where m.conversation_id = ${conversationId}
            and m.untrusted)
            or exists (select from agent_conversation c where c.id = ${conversationId}
              and c.summary_untrusted) as has_untrusted,
          exists (select from agent_conversation c where c.id = ${conversationId}
            and starts_with(c.thread, ${STRANGERS})) as is_strangers
        from agent_job j where j.ended_at is null`,
    ),
  )

export const insertConversation = (conversation: Conversation): Query =>
  conversationTable.insert(conversation)

export const saveConversation = (conversation: Conversation): Query =>
  conversationTable.save(conversation)

/** Hides the conversation from everybody, and frees its thread in a channel for the next one. */
export const deleteConversation =
  (id: string, now: Date): Query =>
  (sql) =>
    sql`update agent_conversation set deleted_at = ${now}, updated_at = ${now},
      connection_id = null, thread = null where id = ${id}`
