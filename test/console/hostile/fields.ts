/**
 * Writes hostile texts into every field that the console shows, past what operations take: nobody
 * but the console then stands between them and its reader.
 */
import type postgres from 'postgres'
import { hostileAddress, hostileName, hostileText, type Round, SHORT } from './texts.ts'

/** Columns of names, which have the form that operations ask of a name. */
const NAMES: Record<string, readonly string[]> = {
  connection: ['handle'],
  api_key: ['name'],
  channel_connection: ['display_name'],
  mcp_server: ['name'],
  playbook: ['name'],
}

/** Columns of other texts. */
const TEXTS: Record<string, readonly string[]> = {
  item: ['body', 'rationale', 'last_error', 'note'],
  revision: ['body'],
  comment: ['body'],
  batch: ['focus', 'shortfall'],
  engagement: ['body', 'rationale', 'post_author', 'post_text'],
  agent_approval: ['goal', 'summary'],
  agent_job: ['goal'],
  agent_step: ['untrusted', 'error'],
  channel_reply: ['recipient', 'text', 'why'],
  channel_message: ['sender_name', 'text'],
  channel_connection: ['last_error'],
  channel_identity: ['name', 'external_id'],
  mcp_tool: ['title', 'description'],
  playbook_version: ['content', 'rationale'],
  attempt: ['error'],
  webhook_endpoint: ['disabled_reason'],
  outbox: ['last_error', 'subject'],
}

/** Columns of addresses, whose links lead there. */
const ADDRESSES: Record<string, readonly string[]> = {
  item: ['url'],
  engagement: ['post_url', 'url'],
}

/** Texts within JSON and lists. */
const WITHIN = [
  'item.stories',
  'item.tags',
  'approval.text',
  'approval.account',
  'approval.url',
  'step.result',
  'tool.gate',
  'read.post',
]

/** Columns that the console does not show, so that it cannot show them wrongly. */
const NOT_SHOWN = [
  'attempt.error',
  'mcp_tool.title',
  'agent_job.goal',
  'item.note',
  'batch.shortfall',
]

const columns = Object.entries({ ...TEXTS }).concat(Object.entries(NAMES))

/** What must be seen somewhere. */
export const shownFields: readonly string[] = [
  ...columns.flatMap(([table, names]) => names.map((name) => `${table}.${name}`)),
  ...WITHIN,
  'person.name',
  'tenant.name',
  'webhook_endpoint.url',
  'item.title',
].filter((field) => !NOT_SHOWN.includes(field))

/** Of these a part is enough. */
const SHORTENED: Record<string, string> = {
  'agent_step.error': 'the job of the agent has it whole',
  'batch.focus': 'the heading of a group; its drafts are what is decided',
  'channel_message.text': 'the server cuts it, and says so',
  'item.title': 'the first line of an article, which is shown whole',
  'step.result': 'the server cuts it, and says so',
}

/** What must be read to its end, at every width. */
export const wholeFields = shownFields.filter((field) => !(field in SHORTENED))

interface Filling {
  sql: postgres.Sql
  tenantId: string
  round: Round
}

const fillColumns = async ({ sql, tenantId, round }: Filling): Promise<void> => {
  for (const [all, make] of [
    [NAMES, hostileName],
    [TEXTS, hostileText],
    [ADDRESSES, hostileAddress],
  ] as const)
    for (const [table, names] of Object.entries(all))
      for (const name of names)
        await sql`update ${sql(table)} set ${sql(name)} = ${make(round, `${table}.${name}`)}
          where tenant_id = ${tenantId}`
}

const fillCalls = async ({ sql, tenantId, round }: Filling): Promise<void> => {
  const text = (field: string) => sql.json(hostileText(round, field))
  const url = `https://w.example/${hostileText(round, 'approval.url')}`
  const account = hostileName(round, 'approval.account')
  await sql`update agent_approval
    set subject = subject || ${sql.json({ account })} ||
      ${sql.json({ text: hostileText(round, 'approval.text') })}
    where tenant_id = ${tenantId} and subject->>'text' is not null`
  await sql`update agent_approval set arguments = jsonb_set(arguments, '{url}', ${sql.json(url)})
    where tenant_id = ${tenantId} and arguments ? 'url'`
  await sql`update agent_step set result = jsonb_set(result, '{text}', ${text('step.result')})
    where tenant_id = ${tenantId} and kind = 'tool' and result is not null`
  await sql`update mcp_tool set parameters = ${sql.json({
    type: 'object',
    properties: { gate: { type: 'string', description: hostileText(round, 'tool.gate') } },
  })} where tenant_id = ${tenantId}`
  await sql`update agent_tool_rule
    set definition = jsonb_set(definition, '{description}', ${text('rule.description')})
    where tenant_id = ${tenantId}`
  // Two versions that differ in a word are compared.
  await sql`update playbook_version set content = state || ' ' || content
    where tenant_id = ${tenantId}`
}

const fillLists = async ({ sql, tenantId, round }: Filling): Promise<void> => {
  await sql`update item set stories = ${sql.json([hostileText(round, 'item.stories')])},
      tags = ${[hostileName(round, 'item.tags')]} where tenant_id = ${tenantId}`
  const tries = await sql<{ id: string; reads: { timeline?: object[] | null }[] }[]>`
    select id, reads from attempt where tenant_id = ${tenantId}`
  const ofPost = {
    // Longer ones are cut at the server.
    text: hostileText(round, 'read.post', SHORT),
    url: hostileAddress(round, 'read.url'),
  }
  for (const { id, reads } of tries) {
    const shown = reads.map((read) => ({
      ...read,
      ...(read.timeline && { timeline: read.timeline.map((post) => ({ ...post, ...ofPost })) }),
    }))
    await sql`update attempt set reads = ${sql.json(shown as never)} where id = ${id}`
  }
}

/** The people of the workspace, what they are in, and what is theirs alone. */
const fillNames = async ({ sql, tenantId, round }: Filling): Promise<void> => {
  const members = sql`select person_id from member where tenant_id = ${tenantId}`
  await sql`update person set name = ${hostileName(round, 'person.name')} where id in (${members})`
  await sql`update tenant set name = ${hostileName(round, 'tenant.name')} where id in
    (select tenant_id from member where person_id in (${members}))`
  await sql`update item set title = ${hostileText(round, 'item.title')}
    where tenant_id = ${tenantId} and kind = 'article'`
  const url = `https://${'w'.repeat(63)}.example/?${hostileText(round, 'webhook_endpoint.url')}`
  await sql`update webhook_endpoint set url = ${url}, status = 'active' where tenant_id = ${tenantId}`
}

export interface Place {
  tenantId: string
  /** What can be approved: its texts are hostile, but short. */
  draft: string
  engagement: string
}

const shorten = async ({ sql, round }: Filling, { draft, engagement }: Place): Promise<void> => {
  await sql`update item set body = ${hostileText(round, 'item.body', SHORT)} where id = ${draft}`
  await sql`update engagement set body = ${hostileText(round, 'engagement.body', SHORT)}
    where id = ${engagement}`
}

export const fillAll = async (owner: postgres.Sql, place: Place, round: Round): Promise<void> =>
  void (await owner.begin(async (transaction) => {
    const sql = transaction as unknown as postgres.Sql
    const filling = { sql, tenantId: place.tenantId, round }
    await fillColumns(filling)
    await fillCalls(filling)
    await fillLists(filling)
    await fillNames(filling)
    await shorten(filling, place)
  }))
