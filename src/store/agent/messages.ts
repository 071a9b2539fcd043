import type { Message } from '#domain/agent/conversation'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'

const columns = (
  sql: Sql,
): Fragment => sql`m.id, m.conversation_id, m.seq, m.job_id, m.reply_to, m.role, m.content,
  m.author, m.untrusted,
  m.model, m.tools_used, m.created_at, m.updated_at`

const times = { created_at: true, updated_at: true } as const

/** A message of this conversation. */
export const messagePart = (conversationId: string, id: string) =>
  one<Message>(
    times,
    (sql) =>
      sql`select ${columns(sql)} from agent_message m where m.id = ${id}
        and m.conversation_id = ${conversationId}`,
  )

/** The message that answers a job's. */
export const answerOf = (jobId: string) =>
  one<Message>(
    times,
    (sql) => sql`select ${columns(sql)} from agent_message m
      where m.conversation_id = (select conversation_id from agent_job where id = ${jobId})
      and m.job_id = ${jobId} and m.role <> 'user' order by m.seq desc limit 1`,
  )

/** Newest first. */
export const messagesPart = (conversationId: string, { limit, after }: Page) =>
  many<Message>(
    times,
    (
      sql,
    ) => sql`select ${columns(sql)} from agent_message m where m.conversation_id = ${conversationId}
      ${after ? sql`and m.seq < (select seq from agent_message where id = ${after})` : sql``}
        order by m.seq desc limit ${limit + 1}`,
  )

export const insertMessages =
  (messages: readonly Message[]): Query =>
  (sql) =>
    sql`insert into agent_message ${sql(
      messages.map((message) => ({
        ...message,
        author: sql.json(message.author as never),
        tools_used: sql.json(message.tools_used),
      })),
    )}`
