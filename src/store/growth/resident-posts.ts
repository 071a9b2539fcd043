import type { Connection } from '#domain/growth/sending/connection'
import type { Query } from '../engine/db.ts'
import { many } from '../engine/load.ts'
import { connectionColumns, connectionTimes } from './connections.ts'

/** A post that a workspace has had a resident of the sandbox write. */
export interface ResidentPost {
  id: string
  /** The network's id. */
  post_id: string
  resident: string
  text: string
  in_reply_to: string | null
  created_at: Date
}

/** The most resident posts that a workspace may have. */
export const MOST_RESIDENT_POSTS = 1_000

export const insertResidentPost =
  (post: ResidentPost): Query =>
  (sql) =>
    sql`insert into resident_post ${sql(post)}`

/** Makes room for one more post. */
export const forgetResidentPosts: Query = (sql) =>
  sql`delete from resident_post where id in (select id from resident_post
    order by created_at desc, post_id desc offset ${MOST_RESIDENT_POSTS - 1})`

/** The account on a network that is connected, preferably the default one. */
export const accountsOn = (network: string) =>
  many<Connection>(
    connectionTimes,
    (sql) =>
      sql`select ${connectionColumns(sql)} from connection where network = ${network}
        and status = 'connected'
        order by is_default desc, id limit 1`,
  )
