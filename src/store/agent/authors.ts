/** Who wrote the messages that a job is given, and what they may do now. */
import { SHARED } from '#domain/agent/channel/trust'
import type { LeftOut } from '#domain/agent/conversation'
import type { AuthorNow, MessageAuthor } from '#domain/agent/job/authors'
import { MOST_MESSAGES } from '#domain/agent/job/compaction'
import type { Fragment, Sql } from '../engine/db.ts'
import { many, mapPart, one, sure } from '../engine/load.ts'

/** Who wrote message `m`, or asked for what it answers. Null if nobody here did. */
export const messageAuthor = (sql: Sql): Fragment<{ author: MessageAuthor | null }> =>
  sql`case m.role when 'user' then m.author else (select q.author from agent_message q
    where q.id = m.reply_to) end`

/** More authors than a conversation has. */
const MOST_AUTHORS = 200

/**
 * `authors`: a query with a column named `author`. Strangers and machines are left out, because
 * their messages themselves are marked.
 */
export const authorsNow = (sql: Sql, authors: Fragment): Fragment<AuthorNow> =>
  sql`select a.kind, a.id, a.person as "personId", coalesce(k.name, p.name) as name, m.role,
    k.scopes, case a.kind
      when 'key' then k.id is null or k.revoked_at is not null or k.expires_at <= clock_timestamp()
        or (k.person_id is not null and m.role is null)
      when 'channel' then i.id is null or m.role is null else m.role is null end as gone
    from (select distinct author->>'kind' as kind, case author->>'kind' when 'session'
      then author->>'personId' else author->>'id' end as id,
        author->>'personId' as person from (${authors}) said
          where author->>'kind' in ('key', 'session', 'channel')
        and (author->>'kind' <> 'channel' or author->>'personId' is not null) order by 1, 2
          limit ${MOST_AUTHORS}) a
      left join api_key k on k.id = case a.kind when 'key' then a.id::uuid end
      left join member m on m.person_id = coalesce(k.person_id, a.person::uuid)
      left join channel_identity i on i.id = case a.kind when 'channel' then a.id::uuid end
        and i.person_id = m.person_id
      left join lateral (select name from person where id = m.person_id offset 0) p on true`

/** These authors, as of now. */
export const theseNow = (authors: readonly MessageAuthor[]) =>
  many<AuthorNow>({}, (sql) =>
    authorsNow(
      sql,
      sql`select jsonb_array_elements(${sql.json(authors as never)}::jsonb) as author`,
    ),
  )

/** How many people a refusal names. */
const MOST_NAMED = 5

/** Members and keys that have written in a conversation but would not see it if it were private. */
export const leftOutOf = (conversationId: string) =>
  sure(
    one<LeftOut>(
      {},
      (sql) => sql`select coalesce(bool_or(starts_with(c.thread, ${SHARED})), false) as is_shared,
          coalesce(bool_or(w.author->>'kind' = 'key' and w.author->>'personId' is null), false) as
            has_key,
          coalesce((array_agg(distinct coalesce(p.name, 'a member')) filter
            (where b.person_id is not null))[:${MOST_NAMED}::int], '{}') as names
        from agent_conversation c left join lateral (select distinct m.author from agent_message m
            where m.conversation_id = c.id and m.role = 'user'
              and m.author->>'personId' is distinct from c.person_id::text
              and not coalesce(c.people ? (m.author->>'personId'), false)) w on true
          left join member b on b.person_id = (w.author->>'personId')::uuid
          left join lateral (select name from person where id = b.person_id offset 0) p on true
        where c.id = ${conversationId}`,
    ),
  )

/**
 * For approval `a`: the person who told its job something with the decision, either a reason or
 * other arguments.
 */
const decider = (sql: Sql): Fragment<{ author: MessageAuthor }> =>
  sql`jsonb_build_object('kind', 'session', 'id', a.decided_by, 'personId', a.decided_by)`

const hasWords = (sql: Sql): Fragment =>
  sql`a.decided_how = 'person' and (a.reason is not null or a.edited)`

/** The people whose words a job got with decisions about its calls, by step. */
export const stepDeciders = (jobId: string) =>
  many<{ step_id: string; author: MessageAuthor }>(
    {},
    (sql) =>
      sql`select a.step_id, ${decider(sql)} as author from agent_approval a
        where a.job_id = ${jobId} and ${hasWords(sql)} limit 200`,
  )

/**
 * Who wrote what the root of a job's tree is given: the messages up to the one that it answers, the
 * summary before them, and what people said when they decided about calls of the tree.
 */
export const authorsBefore = (rootId: string) =>
  mapPart(
    one<{
      said: (MessageAuthor | null)[] | null
      summary_authors: MessageAuthor[]
      decided: MessageAuthor[] | null
    }>(
      {},
      (sql) => sql`select c.summary_authors, (select jsonb_agg(distinct w.author)
        from (select ${messageAuthor(sql)} as author from agent_message m
          where m.conversation_id = c.id and m.seq <= own.seq and m.seq > c.summarised_to
            order by m.seq desc limit ${MOST_MESSAGES}) w) as said,
          (select jsonb_agg(distinct ${decider(sql)}) from agent_approval a where ${hasWords(sql)}
            and a.job_id in (
            select r.id union all select k.id from agent_job k where k.root_id = r.id
              and k.parent_id is not null)) as decided
        from agent_job r
          cross join lateral (select m.conversation_id, m.seq from agent_message m
            where m.id = r.message_id offset 0) own
          cross join lateral (select c.id, c.summary_authors, c.summarised_to
            from agent_conversation c where c.id = own.conversation_id offset 0) c
        where r.id = ${rootId}`,
    ),
    (found): (MessageAuthor | null)[] =>
      found ? [...(found.said ?? []), ...found.summary_authors, ...(found.decided ?? [])] : [],
  )
