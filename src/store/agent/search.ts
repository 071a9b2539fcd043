import type { Query } from '../engine/db.ts'

export interface FoundMessage {
  role: string
  content: string
  /** It may contain words of people outside the workspace. */
  untrusted: boolean
  created_at: Date
}

/** Characters of a message that a search shows. */
const SHOWN = 1_000

/**
 * Messages of a conversation that contain all words, newest first, whether accents are characters of their own or not. A job sees nothing
 * that is newer than the message that it answers: what others have said since is not what it was asked about.
 */
export const searchMessages =
  ({ conversationId, messageId }: { conversationId: string; messageId: string }, query: string): Query<FoundMessage> =>
  (sql) => {
    const words = query.normalize('NFC').trim().split(/\s+/).slice(0, 10)
    const patterns = words.map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`)
    return sql`select role, left(content, ${SHOWN}) as content, untrusted, created_at from agent_message
      where conversation_id = ${conversationId} and seq <= (select seq from agent_message where id = ${messageId})
        and normalize(content, NFC) ilike all(${patterns}::text[]) order by seq desc limit 10`
  }
