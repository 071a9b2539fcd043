import { messageRecord } from '#contract/records/agent/conversation'
import type { Message } from '#domain/agent/conversation'
import type { Query } from '../engine/db.ts'
import { many, one } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(messageRecord)

/** A message of this conversation. */
export const messagePart = (conversationId: string, id: string) =>
  one<Message>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'm')} from agent_message m where m.id = ${id}
        and m.conversation_id = ${conversationId}`,
  )

/** The message that answers the job's message. */
export const answerMessage = (jobId: string) =>
  one<Message>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'm')} from agent_message m
      where m.conversation_id = (select conversation_id from agent_job where id = ${jobId})
      and m.job_id = ${jobId} and m.role <> 'user' order by m.seq desc limit 1`,
  )

/** Newest first. */
export const messagesPart = (conversationId: string, { limit, after }: Page) =>
  many<Message>(
    table.times,
    (
      sql,
    ) => sql`select ${table.columns(sql, 'm')} from agent_message m where m.conversation_id = ${conversationId}
      ${after ? sql`and m.seq < (select seq from agent_message where id = ${after})` : sql``}
        order by m.seq desc limit ${limit + 1}`,
  )

export const insertMessages = (messages: readonly Message[]): Query => table.insertAll(messages)
