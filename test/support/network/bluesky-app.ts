/** A server whose Bluesky is a played PDS, and workspaces with accounts there. */
import type { Overrides } from '#server/opening'
import { type TestApp, testApp } from '../app.ts'
import { newStory, type Story } from '../growth/story.ts'
import { signedIn } from '../session.ts'
import { type FakePds, openPds, type PdsAccount } from './pds.ts'
import { callPds } from './pds-client.ts'

const PATH = '/api/v1/app/connections'

/** The variables of a server that takes this PDS for Bluesky. */
export const blueskyEnv = (
  { url, plcUrl }: Pick<FakePds, 'url' | 'plcUrl'>,
  pages: readonly string[] = [],
) => ({
  BLUESKY_SERVICE: url,
  BLUESKY_PLC_URL: plcUrl,
  EGRESS_ALLOW: [...[url, plcUrl].map((one) => new URL(one).host), ...pages].join(),
})

export interface BlueskyApp extends AsyncDisposable {
  app: TestApp
  pds: FakePds
}

export const openBlueskyApp = async (
  overrides: Overrides = {},
  {
    pds = undefined as FakePds | undefined,
    pages = [] as readonly string[],
    ...more
  }: Parameters<typeof testApp>[0] & {
    pds?: FakePds | undefined
    /** Further hosts with their ports that may be called. */
    pages?: readonly string[]
  } = {},
): Promise<BlueskyApp> => {
  await using stack = new AsyncDisposableStack()
  const played = pds ?? stack.use(await openPds())
  const env = { ...blueskyEnv(played, pages), ...more.env }
  const app = stack.use(await testApp({ ...more, env, overrides }))
  const owned = stack.move()
  return { app, pds: played, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

export interface BlueskyStory {
  story: Story
  /** The account on the PDS. */
  person: PdsAccount
  /** Asks to connect it, as an owner. */
  connect(body?: Record<string, unknown>): ReturnType<TestApp['send']>
  disconnect(): ReturnType<TestApp['send']>
  /** The row of the account. */
  row(): Promise<Record<string, unknown>>
  /** How often each text stands in the repository. */
  posts(): Record<string, number>
}

let count = 0

/** A workspace with an account on the PDS that is not connected yet. */
export const newPerson = async ({
  app,
  pds,
}: Pick<BlueskyApp, 'app' | 'pds'>): Promise<BlueskyStory> => {
  const story = await newStory(app)
  const { key } = await signedIn(app, story.tenantId)
  const person = pds.account(`person-${++count}.test`)
  const row = async () =>
    (
      await app.owner`select * from connection where tenant_id = ${story.tenantId}
        and network = 'bluesky'`
    )[0]!
  return {
    story,
    person,
    connect: (body = {}) =>
      app.send('POST', `${PATH}/bluesky`, {
        key,
        body: { handle: person.handle, app_password: person.appPassword, ...body },
      }),
    disconnect: async () => app.send('DELETE', `${PATH}/${(await row()).id}`, { key }),
    row,
    posts: () => {
      const texts = pds
        .records(person.did, 'app.bsky.feed.post')
        .map(({ value }) => String(value.text))
      return Object.fromEntries(
        Object.entries(Object.groupBy(texts, (text) => text)).map(([text, all]) => [
          text,
          all!.length,
        ]),
      )
    },
  }
}

/** The same, connected. */
export const connectedPerson = async (opened: BlueskyApp): Promise<BlueskyStory> => {
  const person = await newPerson(opened)
  const { status, text } = await person.connect()
  if (status !== 201) throw new Error(`${status} ${text}`)
  return person
}

export interface Stranger {
  handle: string
  /** Writes a record into the stranger's repository. */
  write(collection: string, value: object): Promise<{ uri: string; cid: string }>
}

/** Somebody on the PDS who belongs to no workspace. */
export const newStranger = async ({ pds }: BlueskyApp): Promise<Stranger> => {
  const { did, handle, password } = pds.account(`stranger-${++count}.test`)
  const { body } = await callPds(pds, 'com.atproto.server.createSession', {
    body: { identifier: handle, password },
  })
  return {
    handle,
    write: async (collection, value) => {
      const record = { $type: collection, createdAt: new Date().toISOString(), ...value }
      const made = await callPds(pds, 'com.atproto.repo.createRecord', {
        body: { repo: did, collection, record },
        token: body.accessJwt,
      })
      if (made.status === 200) return made.body
      throw new Error(`${made.status} ${JSON.stringify(made.body)}`)
    },
  }
}
