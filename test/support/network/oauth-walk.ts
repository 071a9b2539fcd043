/** An owner who connects an account of a played PDS by OAuth, in a browser of their own. */
import { createVisitor, type Visitor } from '../http/visitor.ts'
import { type SignedIn, signedIn } from '../session.ts'
import { type BlueskyApp, type BlueskyStory, newPerson } from './bluesky-app.ts'

type Seen = Awaited<ReturnType<Visitor['get']>>

export interface OauthWalk extends SignedIn {
  one: Visitor
  /** As the command line begins it. */
  begin(body?: Record<string, unknown>): ReturnType<BlueskyApp['app']['send']>
  /** Presses the button of the page, which leads to the network. */
  press(id: string): Promise<Seen>
  /** The same. Returns the address of the network's page. */
  lead(id: string): Promise<string>
  /** Goes where the network sends the browser. */
  comeBack(address: string): Promise<Seen>
  /** How it stands, as the workspace sees it. */
  standing(id: string): Promise<{
    status: string
    reason: string | null
    account: { id: string; handle: string } | null
  }>
}

const PATH = '/api/v1/app/connections'

export const addressIn = ({ headers }: Pick<Seen, 'headers'>): string =>
  headers.get('refresh')?.replace(/^0; url=/, '') ?? ''

const pathOf = (address: string): string => {
  const { pathname, search } = new URL(address)
  return pathname + search
}

/** Its server is at an address of this machine under another name than its pages. */
export const newWalk = async (
  { app }: Pick<BlueskyApp, 'app'>,
  { tenantId, role }: { tenantId: string; role?: 'owner' | 'editor' },
): Promise<OauthWalk> => {
  const person = await signedIn(app, tenantId, role)
  const one = createVisitor(app)
  one.cookies.set('tendril', { value: person.key, path: '/' })
  const press = (id: string) => one.send(`/connections/start/${id}`, {})
  return {
    ...person,
    one,
    press,
    begin: (body = {}) => app.send('POST', `${PATH}/bluesky/authorize`, { key: person.key, body }),
    async lead(id) {
      const page = await press(id)
      const address = addressIn(page)
      if (!address) throw new Error(`${page.status} ${page.text}`)
      return address
    },
    comeBack: (address) => one.get(pathOf(address), { host: 'localhost' }),
    async standing(id) {
      const { body } = await app.send('GET', `${PATH}/authorizations/${id}`, { key: person.key })
      return body.authorization
    },
  }
}

/** A sign-in that waits for its owner, who has an account on the PDS. */
export interface BegunOauth extends BlueskyStory {
  walk: OauthWalk
  id: string
}

export const beginOauth = async (
  opened: BlueskyApp,
  body: Record<string, unknown> = {},
): Promise<BegunOauth> => {
  const person = await newPerson(opened)
  const walk = await newWalk(opened, { tenantId: person.story.tenantId })
  const { status, text, body: reply } = await walk.begin(body)
  if (status !== 201) throw new Error(`${status} ${text}`)
  return { ...person, walk, id: reply.authorization.id }
}

/** The owner grants access. Returns where the network sends the browser. */
export const grantOauth = async (
  { pds }: Pick<BlueskyApp, 'pds'>,
  { person, walk, id }: BegunOauth,
): Promise<string> => pds.oauth.grant(await walk.lead(id), person.did)

/** The same, connected. */
export const connectedOauth = async (opened: BlueskyApp): Promise<BegunOauth> => {
  const it = await beginOauth(opened)
  await it.walk.comeBack(await grantOauth(opened, it))
  const { status, reason } = await it.walk.standing(it.id)
  if (status !== 'connected') throw new Error(`${status} ${reason}`)
  return it
}

/** What the account has granted last. */
export const oauthGrantOf = (
  { pds }: Pick<BlueskyApp, 'pds'>,
  { person }: Pick<BlueskyStory, 'person'>,
) => pds.oauth.grants.findLast(({ did }) => did === person.did)
