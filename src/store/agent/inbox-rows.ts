/** The records that a page of the list of what waits has, with what their entries show. */
import type { WaitingRows } from '#domain/agent/inbox-rows'
import { namedAuthor } from '../app/names.ts'
import type { Fragment, Sql } from '../engine/db.ts'
import { waitingEngagements } from '../growth/engagements.ts'
import { waitingItems } from '../growth/items.ts'
import type { ApprovalReader } from './approvals.ts'
import { versionSource } from './inbox-parts.ts'
import { isMadeGone, isMadeShown } from './visibility.ts'

/** The calls that ask to decide each draft. The table that holds all calls is `calls`. */
const withCalls = (sql: Sql, id: Fragment, as: ApprovalReader | null): Fragment =>
  as
    ? sql`left join (select k.record_id, jsonb_agg(jsonb_build_object('id', k.id,
          'tool_name', k.tool_name, 'expires_at', k.expires_at) order by k.expires_at, k.id) as calls
        from calls k where k.is_of_draft group by k.record_id) asking on asking.record_id = ${id}`
    : sql`cross join (select null::jsonb as calls) asking`

const account = (sql: Sql, where: Fragment): Fragment =>
  sql`(select jsonb_build_object('id', c.id, 'handle', c.handle, 'network', c.network)
    from connection c where ${where} limit 1)`

/** The table that holds the places of the page is `chosen`. */
const chosenOf = (sql: Sql, record: keyof WaitingRows): Fragment =>
  sql`chosen where record = '${sql.raw(record)}'`

const items = (sql: Sql, as: ApprovalReader | null): Fragment =>
  waitingItems(sql, {
    where: sql`id = any(array(select place_id from ${chosenOf(sql, 'item')}))`,
    columns: sql`calls`,
    join: withCalls(sql, sql`item.id`, as),
  })

const engagements = (sql: Sql, as: ApprovalReader | null): Fragment =>
  waitingEngagements(sql, {
    where: sql`id = any(array(select place_id from ${chosenOf(sql, 'engagement')}))`,
    columns: sql`calls, ${account(
      sql,
      sql`case when engagement.account_external_id is null
            then c.is_default and c.status = 'connected'
          else c.external_id = engagement.account_external_id end`,
    )} as from_account`,
    join: withCalls(sql, sql`engagement.id`, as),
  })

const approvals = (sql: Sql): Fragment =>
  sql`select a.id, a.job_id, a.status, a.tool_name, a.summary, a.arguments, a.subject,
      a.expires_at, a.created_at,
      ${account(sql, sql`c.handle = a.subject->>'account'`)} as account
    from agent_approval a where a.id = any(array(select place_id from ${chosenOf(sql, 'approval')}))`

const replies = (sql: Sql, as: ApprovalReader): Fragment =>
  sql`select r.id, r.job_id, r.status, r.text, r.created_at, coalesce(r.channel, c.channel) as channel,
      not ${isMadeShown(sql, sql`r.conversation_id`, as)} as is_hidden,
      ${isMadeGone(sql, sql`r.conversation_id`)} as is_gone
    from channel_reply r left join channel_connection c on c.id = r.connection_id
    where r.id = any(array(select place_id from ${chosenOf(sql, 'reply')}))`

/** Who wrote a version, as authors are named elsewhere: a session is its person's. */
const versionAuthor = (sql: Sql): Fragment =>
  sql`jsonb_build_object('kind', case v.author->>'kind' when 'session' then 'person' when 'channel' then 'system'
      else v.author->>'kind' end,
    'id', coalesce(case v.author->>'kind' when 'session' then v.author->>'personId' end, v.author->>'id'))`

/** The author is made before its name is looked up. */
const versions = (sql: Sql): Fragment =>
  sql`select w.*, ${namedAuthor(sql, sql`w.made_by`)} as author from (
      select v.id, v.content, v.rationale, v.number, v.state, v.created_at, v.playbook_id,
        p.name as playbook_name, ${versionSource(sql)} as source_kind, ${versionAuthor(sql)} as made_by
      from playbook_version v join playbook p on p.id = v.playbook_id
      where v.id = any(array(select place_id from ${chosenOf(sql, 'playbook_version')})) offset 0) w`

const tools = (sql: Sql): Fragment =>
  sql`select t.id, t.name, t.hash, t.updated_at, t.server_id, s.name as server_name
    from mcp_tool t join mcp_server s on s.id = t.server_id
    where t.id = any(array(select place_id from ${chosenOf(sql, 'mcp_tool')}))`

/** A column for each kind of record. */
export const rowColumns = (sql: Sql, as: ApprovalReader | null): Fragment => {
  const tables: [name: keyof WaitingRows, rows: Fragment][] = [
    ['item', items(sql, as)],
    ['engagement', engagements(sql, as)],
    ...(as
      ? ([
          ['approval', approvals(sql)],
          ['reply', replies(sql, as)],
          ['playbook_version', versions(sql)],
          ['mcp_tool', tools(sql)],
        ] as [keyof WaitingRows, Fragment][])
      : []),
  ]
  return tables.reduce(
    (before, [name, rows]) =>
      sql`${before}, (select json_agg(row_to_json(part)) from (${rows}) part) as ${sql(name)}`,
    sql``,
  )
}
