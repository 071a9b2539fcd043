/**
 * What workspaces request: generations of every kind in turn, so that each kind meets each fault.
 */
import type postgres from 'postgres'
import { newId } from '#kernel/ids'
import { testApp } from '#test/support/app'
import type { ServerOptions } from '#test/support/processes/server'
import type { Tenant } from './fleet.ts'
import { type Kind, kinds } from './generations.ts'

export interface Wish {
  kind: Kind
  body: Record<string, unknown>
}

const MOST_POSTS = 20
const AUDITED = 24
const MANY = 1_000_000

/**
 * Workspaces with a connected account each, and without limits. Starts no work: the servers do all
 * of it.
 */
export const connectedTenants = async (
  owner: postgres.Sql,
  database: ServerOptions['database'],
  count: number,
): Promise<Tenant[]> => {
  await using app = await testApp({ database: database!, overrides: { sweepMs: 0 } })
  const tenants: Tenant[] = []
  for (let made = 0; made < count; made++) {
    const { tenantId, key } = await app.newWorkspace()
    tenants.push({ id: tenantId, key })
  }
  const keys = kinds.flatMap(({ quota, cap }) => [...(quota ? [quota] : []), cap])
  await owner`update tenant set overrides =
    ${owner.json(Object.fromEntries([...keys, 'reads_free'].map((key) => [key, MANY])))}`
  return tenants
}

/** Posts of an account that belongs to no workspace; returns their ids. */
export const othersPosts = async (owner: postgres.Sql, count: number): Promise<string[]> => {
  const [account] = await owner<
    { id: string }[]
  >`insert into sandbox.accounts (handle) values (${`o-${newId()}`}) returning id`
  const rows = await owner<{ id: string }[]>`insert into sandbox.posts (account_id, text)
    select ${account!.id}, 'What do you do about late deliveries, part ' || n || '?'
      from generate_series(1, ${count}::int) n returning id`
  return rows.map(({ id }) => id)
}

/** Metrics in which questions do better, so that a model has something to find. */
const metrics = Array.from({ length: AUDITED }, (_, index) => ({
  text: index % 2 === 0 ? `Who answers on day ${index}?` : `We answer on day ${index}.`,
  impressions: 1_000,
  likes: index % 2 === 0 ? 80 + (index % 5) : 20 + (index % 5),
  replies: 0,
  reposts: 0,
}))

/** The body of one request of a workspace. */
const bodyOf = (
  { name }: Kind,
  { next, post, id }: { next: () => number; post: string; id: string },
): Record<string, unknown> => {
  const bodies = {
    batches: { count: 1 + Math.floor(next() * MOST_POSTS), focus: id },
    articles: { topic: `What ${id} is about`, length: 'short' },
    audits: { metrics },
    reports: {},
    engagements: { post, action: next() < 0.5 ? 'reply' : 'quote', instruction: id },
  }
  return bodies[name]
}

/** So many requests, the kinds in turn, starting with a different one in each workspace. */
export const wishesOf = (
  { tenant, place, count }: { tenant: Tenant; place: number; count: number },
  posts: string[],
  next: () => number,
): Wish[] =>
  Array.from({ length: count }, (_, index) => {
    const kind = kinds[(place + index) % kinds.length]!
    return { kind, body: bodyOf(kind, { next, post: posts[index]!, id: `${tenant.id}-${index}` }) }
  })
