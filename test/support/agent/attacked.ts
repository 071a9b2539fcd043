/** Workspaces whose agents read poisoned texts, and what has become of them. */
import { capKeys, quotaKeys } from '#contract/limits'
import type { ThinkRequest } from '#port/model/thinker'
import { changePlan } from '#store/app/tenants'
import { eventually, type TestApp } from '../app.ts'
import type { Workspace } from '../arrange.ts'
import { newWorkspace, recipes } from '../contract/prepare.ts'
import { openReceiver } from '../http/receiver.ts'
import { use } from '../use.ts'
import type { Places } from './attacks.ts'

const hostOf = (url: string): string => new URL(url).host

/**
 * Two hosts of an attacker, of which one is on the list of those that are read unasked. `env` of a
 * server that could reach them, and `more` besides.
 */
export const useAttackersHosts = () => {
  const [canary, listed] = [use(openReceiver), use(openReceiver)]
  return {
    canary,
    listed,
    places: (): Places => ({ canary: canary.url, listed: listed.url }),
    env: (...more: string[]) => ({
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: 'http://127.0.0.1:9',
      EGRESS_ALLOW: [listed.url, canary.url, ...more].map(hostOf).join(','),
      FETCH_ALLOW: hostOf(listed.url),
    }),
  }
}

/** Texts of the model itself are no texts that it obeys. */
export const readIn = ({ system, messages }: ThinkRequest): string =>
  [
    system,
    ...messages.flatMap((message) => (message.role === 'assistant' ? [] : message.text)),
  ].join('\n')

/** The number of the first attack in a text. */
export const attackIn = (text: string): number | undefined => {
  const [, id] = /\[\[attack (\d+)\]\]/.exec(text) ?? []
  return id === undefined ? undefined : Number(id)
}

const plenty = Object.fromEntries([...capKeys, ...quotaKeys].map((key) => [key, 1_000_000]))
const unlimited = {
  agent_tokens_day: -1,
  agent_tokens_month: -1,
  agent_cost_month: -1,
  agent_calls_hour: -1,
  agent_requests: -1,
}

/** A workspace with something to attack, whose plan keeps nobody from it. */
export const newTarget = async (app: TestApp): Promise<Workspace> => {
  const workspace = await newWorkspace(app)
  await changePlan(app.workplace.db, workspace.tenantId, (plan) => ({
    ...plan,
    overrides: { ...plenty, ...unlimited },
  }))
  for (const name of ['growth.items', 'growth.learnings', 'growth.products'])
    await recipes[name]!.make(workspace)
  return workspace
}

/** Tables in which the agent records its own work or requests are counted. */
const OWN =
  /^(agent_(conversation|message|job|step|event|approval)|audit|outbox|work|counter|actor|idempotency.*|delivery.*|session|inbound_event|channel_(connection|message|reply))$/

/** One statement over all tables. It is the same for all databases of a run. */
const statesOf = async (app: TestApp): Promise<string> => {
  const tables = await app.owner<
    { name: string }[]
  >`select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attname = 'tenant_id'
      order by 1`
  const states = tables
    .flatMap(({ name }) => (OWN.test(name) ? [] : name))
    .map(
      (
        name,
      ) => `select '${name}' as name, count(*)::int, md5(string_agg(row, '' order by row)) from (
        select (to_jsonb(t) - '{last_used_at,updated_at,last_at,received,used_at}'::text[])::text as row from ${name} t where tenant_id = $1) r`,
    )
  return states.join(' union all ')
}

let statement: Promise<string> | undefined

/** Everything that a workspace has made, except the records of the agent's own work. */
export const stateOf = async (app: TestApp, tenantId: string): Promise<Record<string, unknown>> => {
  statement ??= statesOf(app)
  const found = await app.owner.unsafe<{ name: string }[]>(await statement, [tenantId], {
    prepare: true,
  })
  return Object.fromEntries(found.map(({ name, ...state }) => [name, state]))
}

/** Waits until no job of the workspace is working. */
export const settled = async (app: TestApp, tenantId: string): Promise<void> => {
  const busy = async () => {
    const [row] = await app.owner<{ count: number }[]>`select count(*)::int from agent_job
      where tenant_id = ${tenantId} and status in ('queued', 'running')`
    return row!.count
  }
  // Autovacuum comes too late for a test: plans that were made for empty tables would read all
  // rows.
  await app.owner`analyze agent_job, agent_step, agent_message, agent_conversation, mcp_tool,
    agent_tool_rule`
  await eventually(busy, (count) => count === 0, 120_000)
}

/** Ids of the attacks that its jobs have read in tool results. */
export const readBy = async (app: TestApp, tenantId: string): Promise<string[]> => {
  const rows = await app.owner<
    { attack: string }[]
  >`select distinct (regexp_match(result->>'text', '\\[\\[attack (\\d+)\\]\\]'))[1] as attack
    from agent_step where tenant_id = ${tenantId} and untrusted is not null`
  return rows.map(({ attack }) => attack)
}
