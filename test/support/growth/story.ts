/**
 * A workspace that posts. Its drafts are written to the database; everything else goes over HTTP.
 */
import type postgres from 'postgres'
import { eventually, type Reply, type Send, type TestApp } from '../app.ts'
import { insertItem } from '../database/writes.ts'

interface StoryItem {
  id: string
  status: string
  review: boolean
  body: string
  post_at: string | null
  posted_at: string | null
  account: string | null
  external_id: string | null
  url: string | null
  last_error: string | null
  doubt: { cause: string; resolves: string; next_read_at: string | null } | null
}

/** What a story needs of a server, in this process or another. */
export interface Place {
  owner: postgres.Sql
  send: TestApp['send']
}

export interface Story {
  tenantId: string
  key: string
  /** The network's id of the workspace's first account. */
  account: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  send(method: string, path: string, options?: Send): Promise<Reply<any>>
  drafted(): Promise<string>
  /** Makes an approved item, by default with a unique text; gives its id. */
  approved(text?: string): Promise<string>
  /** Makes an approved item that is due in `ms`. */
  scheduled(ms: number, more?: { on_missed?: 'post' | 'skip' }): Promise<string>
  item(id: string): Promise<StoryItem>
  /** `key`: an Idempotency-Key. */
  postNow(id: string, key?: string): ReturnType<Story['send']>
  /** The states of the attempts to send an item or engagement, in their order. */
  attempts(id: string): Promise<string[]>
  /** The kinds of work that there are for a record. */
  works(id: string): Promise<string[]>
  /** The item, once it has one of these statuses. */
  settled(id: string, ...statuses: string[]): Promise<StoryItem>
  /** A generation, once it is over; `path`: where to read it. */
  // biome-ignore lint/suspicious/noExplicitAny: records of every kind
  ended(path: string): Promise<any>
  /** Changes the channel of this name. */
  changeChannel(name: string, body: object): ReturnType<Story['send']>
  /** What is used of a quota, a cap or a budget of reads. */
  used(key: string): Promise<number>
  /** How often each text is on the network, from any account of this workspace. */
  posts(): Promise<Record<string, number>>
  /** Types of events, oldest first, with the reason if there is one. */
  events(): Promise<string[]>
  /** The same workspace, served by another server. */
  at(place: Place): Story
}

export const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString()

const ok = <B>(reply: Reply<B>): Reply<B> => {
  if (reply.status < 300) return reply
  throw new Error(`${reply.status} ${reply.text}`)
}

const postsOf = async ({ owner }: Place, tenantId: string): Promise<Record<string, number>> => {
  const rows = await owner<
    { text: string; times: number }[]
  >`select text, count(*)::int as times from sandbox.posts
    where account_id in (select external_id from connection where tenant_id = ${tenantId})
      group by text`
  return Object.fromEntries(rows.map(({ text, times }) => [text, times]))
}

const eventsOf = async ({ owner }: Place, tenantId: string): Promise<string[]> => {
  const rows = await owner<
    { type: string; reason: string | null }[]
  >`select type, data->>'reason' as reason from outbox
    where tenant_id = ${tenantId} order by id`
  return rows.map(({ type, reason }) => (reason ? `${type} ${reason}` : type))
}

/** A story in an existing workspace, at the server that serves it. */
export const storyAt = (
  place: Place,
  workspace: { tenantId: string; account: string; key: string },
): Story => {
  const { tenantId, key } = workspace
  const story: Story = {
    ...workspace,
    send: (method, path, options) => place.send(method, path, { key, ...options }),
    drafted: () => insertItem(place, tenantId),
    async approved(text) {
      const id = await story.drafted()
      ok(
        await story.send(
          'POST',
          `items/${id}/approve`,
          text === undefined ? {} : { body: { edited_body: text } },
        ),
      )
      return id
    },
    async scheduled(ms, more = {}) {
      const id = await story.approved()
      ok(await story.send('POST', `items/${id}/schedule`, { body: { post_at: inMs(ms), ...more } }))
      return id
    },
    async item(id) {
      const { items } = ok(await story.send('GET', 'items?limit=100')).body
      return items.find((item: StoryItem) => item.id === id)
    },
    postNow: (id, key) =>
      story.send(
        'POST',
        `items/${id}/post-now`,
        key === undefined ? {} : { headers: { 'idempotency-key': key } },
      ),
    attempts: async (id) =>
      (
        await place.owner`select state from attempt where ${id} in (item_id, engagement_id)
          order by number`
      ).map(({ state }) => state),
    works: async (id) =>
      (await place.owner`select kind from work where ref_id = ${id}`).map(({ kind }) => kind),
    settled: (id, ...statuses) =>
      eventually(
        () => story.item(id),
        ({ status }) => statuses.includes(status),
      ),
    ended: (path) =>
      eventually(
        async () => Object.values<{ status: string }>((await story.send('GET', path)).body)[0]!,
        ({ status }) => status === 'ready' || status === 'failed',
      ),
    async changeChannel(name, body) {
      const { channels } = (await story.send('GET', 'channels')).body
      const { id } = channels.find((one: { name: string }) => one.name === name)
      return ok(await story.send('PUT', `channels/${id}`, { body }))
    },
    async used(key) {
      const rows = await place.owner<{ used: number }[]>`select used::int as used from counter
        where tenant_id = ${tenantId} and key = ${key}`
      return rows[0]?.used ?? 0
    },
    posts: () => postsOf(place, tenantId),
    events: () => eventsOf(place, tenantId),
    at: (other) => storyAt(other, workspace),
  }
  return story
}

/** A new workspace of an app. */
export const newStory = async (app: TestApp): Promise<Story> => {
  const { tenantId, key } = await app.newWorkspace()
  const [connection] = await app.owner<
    { external_id: string }[]
  >`select external_id from connection where tenant_id = ${tenantId}`
  return storyAt(app, { tenantId, key, account: connection!.external_id })
}

/** The default text of a story's item. */
export const textOf = (id: string): string => `Draft ${id}`

/**
 * Ends an app's actors like SIGKILL: nothing more reaches the database, and the database has
 * noticed. A call to a slow network is not interrupted, because the network lives on.
 */
export const crash = async ({ workplace, owner }: TestApp): Promise<void> => {
  await workplace.runtime.abandon()
  await owner`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name in ('tendril', 'tendril-node')`
  await owner`delete from node`
}
