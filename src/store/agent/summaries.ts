/** Conversations by their length, and the summaries of those that have grown long. */

import type { AuthorNow, MessageAuthor } from '#domain/agent/job/authors'
import type { History, MessageHead, MessageSpan } from '#domain/agent/job/compaction'
import type { Said } from '#domain/agent/job/transcript'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import { authorsNow, messageAuthor } from './authors.ts'

export interface StoredSummary {
  conversation_id: string
  /** The number of the message that was asked about. */
  seq: number
  summary: string | null
  summarised_to: number
  summary_untrusted: boolean
  /** The people whose words are in the summary. */
  summary_authors: MessageAuthor[]
}

/** The conversation of a message, and its summary. */
export const summaryBefore = (messageId: string) =>
  one<StoredSummary>(
    {},
    (sql) => sql`select c.id as conversation_id, own.seq, c.summary, c.summarised_to,
      c.summary_untrusted, c.summary_authors
      from agent_message own join agent_conversation c on c.id = own.conversation_id
        where own.id = ${messageId}`,
  )

/**
 * The messages `m` up to the one that a job answers that are not in a summary, and always that one.
 * It is read first: without statistics, Postgres may read all messages of the workspace to find it.
 */
const messagesSince = (
  sql: Sql,
  messageId: string,
) => sql`(select o.id, o.seq, o.conversation_id, c.summary, c.summarised_to from agent_message o
    cross join lateral (select c.summary, c.summarised_to from agent_conversation c
      where c.id = o.conversation_id offset 0) c
    where o.id = ${messageId} offset 0) own
  join agent_message m on m.conversation_id = own.conversation_id and m.seq <= own.seq
    and (m.seq > own.summarised_to or m.id = own.id)`

/** The newest of these messages, oldest first. */
export const saidSince = (messageId: string, most: number) =>
  many<Said & { id: string }>(
    {},
    (sql) => sql`select * from (select m.id, m.seq, m.role, m.content, m.untrusted, m.tools_used,
      ${messageAuthor(sql)} as author from ${messagesSince(sql, messageId)}
      order by m.seq desc limit ${most}) newest order by seq`,
  )

/** The length of these messages, and of the summary. */
export const historyOf = (messageId: string) =>
  sure(
    one<History>(
      {},
      (sql) => sql`select count(*)::int as count, coalesce(sum(octet_length(m.content)), 0)::int as
        bytes,
          coalesce(max(octet_length(own.summary)), 0)::int as summary_bytes
            from ${messagesSince(sql, messageId)}`,
    ),
  )

/**
 * More messages than accumulate in a conversation that is summarised regularly. If a conversation
 * never was, the next summary takes up where this one ends.
 */
const MOST_HEADS = 1_000

/** The messages before the one that a job answers, oldest first. */
export const headsBefore = (messageId: string) =>
  many<MessageHead>(
    {},
    (
      sql,
    ) => sql`select m.seq, octet_length(m.content) as bytes from ${messagesSince(sql, messageId)}
      where m.id <> own.id
      order by m.seq limit ${MOST_HEADS}`,
  )

export const saidBetween = ({ conversationId, from, to }: MessageSpan) =>
  many<Said>(
    {},
    (
      sql,
    ) => sql`select m.role, m.content, m.untrusted, m.tools_used, ${messageAuthor(sql)} as author
      from agent_message m
      where m.conversation_id = ${conversationId} and m.seq > ${from} and m.seq <= ${to}
        order by m.seq`,
  )

export const untrustedBetween = ({ conversationId, from, to }: MessageSpan) =>
  sure(
    one<{ any: boolean }>(
      {},
      (sql) => sql`select exists (select from agent_message
        where conversation_id = ${conversationId} and seq > ${from} and seq <= ${to}
          and untrusted) as any`,
    ),
  )

const authorsIn = (sql: Sql, { conversationId, from, to }: MessageSpan): Fragment =>
  sql`select ${messageAuthor(sql)} as author from agent_message m
    where m.conversation_id = ${conversationId} and m.seq > ${from} and m.seq <= ${to}`

/** Who wrote the messages, as of now. */
export const authorsBetween = (span: MessageSpan) =>
  many<AuthorNow>({}, (sql) => authorsNow(sql, authorsIn(sql, span)))

/**
 * Saves the summary. The messages stay, and are shown and searched as before. The summary's authors
 * are those of its messages and of the summary before it.
 */
export const saveSummary =
  (span: MessageSpan, { text, untrusted }: { text: string; untrusted: boolean }): Query =>
  (sql) =>
    sql`update agent_conversation c set summary = ${text}, summarised_to = ${span.to},
      summary_untrusted = ${untrusted},
      summary_authors = (select coalesce(jsonb_agg(distinct author), '[]')
        from (select jsonb_array_elements(c.summary_authors) as author
        union all ${authorsIn(sql, span)}) said where author->>'kind' in ('key', 'session',
          'channel'))
      where c.id = ${span.conversationId}`
