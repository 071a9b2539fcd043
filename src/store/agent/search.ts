import type { AuthorNow } from '#domain/agent/job/authors'
import type { Query } from '../engine/db.ts'
import { authorsNow, messageAuthor } from './authors.ts'

export interface FoundMessage {
  role: string
  content: string
  /** Whether it may contain words of people outside the workspace. */
  untrusted: boolean
  /** Who wrote it, or asked for what it answers; null if nobody here did. */
  by: AuthorNow | null
  created_at: Date
}

/** How many characters of a message a search shows. */
const SHOWN = 1_000

/**
 * Messages of a conversation that contain all the words, newest first, however their accents are
 * encoded. A job sees nothing newer than the message that it answers, because what others have said
 * since is not what it was asked about.
 */
export const searchMessages =
  (
    { conversationId, messageId }: { conversationId: string; messageId: string },
    query: string,
  ): Query<FoundMessage> =>
  (sql) => {
    const words = query.normalize('NFC').trim().split(/\s+/).slice(0, 10)
    const patterns = words.map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`)
    const found = sql`select m.role, left(m.content, ${SHOWN}) as content, m.untrusted,
      m.created_at, m.seq, ${messageAuthor(sql)} as author
      from agent_message m where m.conversation_id = ${conversationId}
        and m.seq <= (select seq from agent_message where id = ${messageId})
        and normalize(m.content, NFC) ilike all(${patterns}::text[]) order by m.seq desc limit 10`
    return sql`select f.role, f.content, f.untrusted, f.created_at,
      (select row_to_json(a) from (${authorsNow(sql, sql`select f.author`)}) a) as by
        from (${found}) f order by f.seq desc`
  }
