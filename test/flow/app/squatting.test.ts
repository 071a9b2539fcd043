/** Addresses that others were first to type: whose they are is shown by a link that was made for them, and by nothing else. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { inviteByOperator } from '#ops/workspaces'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp()
beforeEach(async () => {
  await app.owner`delete from throttle`
})

const SQUATTERS = 'the password of a squatter'
const OWNERS = 'the password of the owner'
let count = 0
const newEmail = () => `real.owner${++count}@example.com`

const tokenIn = (url: string): string => new URL(url).searchParams.get('token')!
/** A link that an owner of the workspace has made. */
const invited = async (tenantId: string, email?: string): Promise<string> => {
  const { key } = await signedIn(app, tenantId)
  const body = { role: 'editor', ...(email === undefined ? {} : { email }) }
  return tokenIn((await app.send('POST', '/api/v1/app/invitations', { key, body })).body.url)
}
/** A link that the operator has printed. */
const printed = async (tenantId: string, email?: string): Promise<string> =>
  tokenIn(await inviteByOperator({ db: app.workplace.db, publicUrl: app.url }, { tenantId, role: 'editor', email }))
const accept = (token: string, email: string, password: string) =>
  app.send('POST', '/api/v1/app/invitations/accept', { key: null, body: { token, email, password, delivery: 'body' } })
const signIn = (email: string, password: string, more: object = {}) =>
  app.send('POST', '/api/v1/app/session', { key: null, body: { email, password, delivery: 'body', ...more } })
const account = async (key: string) => (await app.send('GET', '/api/v1/app/person', { key })).body.person
const workspace = async () => (await app.newWorkspace()).tenantId

/** Somebody who has taken another's address by an invitation of their own workspace. */
const squat = async (email: string) => {
  const tenantId = await workspace()
  const { person, access_token } = (await accept(await invited(tenantId, email), email, SQUATTERS)).body.session
  return { tenantId, id: person.id as string, key: access_token as string }
}

describe('an account made by the invitation of one workspace', () => {
  test('does not keep the owner of its address out of another', async () => {
    const email = newEmail()
    const squatter = await squat(email)
    const elsewhere = await workspace()
    const joined = await accept(await invited(elsewhere, email), email, OWNERS)
    expect([joined.status, joined.body.session?.person.id === squatter.id]).toEqual([201, false])
    const [one, other] = [await signIn(email, OWNERS), await signIn(email, SQUATTERS)]
    expect([one.body.session.workspace.id, other.body.session.workspace.id]).toEqual([elsewhere, squatter.tenantId])
  })

  test('loses its address to whoever opens a link that the operator printed for it, and keeps the rest', async () => {
    const email = newEmail()
    const squatter = await squat(email)
    const elsewhere = await workspace()
    const joined = await accept(await printed(elsewhere, email), 'typed.anyhow@example.com', OWNERS)
    const { session } = joined.body
    expect(session.person).toMatchObject({ email, email_status: 'verified' })
    expect(session.person.id).not.toBe(squatter.id)
    expect(await account(squatter.key)).toMatchObject({ id: squatter.id, email: null, email_status: 'lost', former_email: email })
    expect([(await signIn(email, SQUATTERS)).status, (await signIn(email, OWNERS)).status]).toEqual([401, 201])
    const workspaces = async (key: string) => (await app.send('GET', '/api/v1/app/session', { key })).body.session.workspaces
    const ids = async (key: string) => (await workspaces(key)).map(({ id }: { id: string }) => id)
    expect([await ids(squatter.key), await ids(session.access_token)]).toEqual([[squatter.tenantId], [elsewhere]])
    const [told] = await app.owner`select actor_kind, ref_id from audit
      where tenant_id = ${squatter.tenantId} and operation = 'app.person.emailLost'`
    expect({ ...told }).toEqual({ actor_kind: 'system', ref_id: squatter.id })
  })

  test('is not joined with by the owner of its address, even if the squatter has told them its password', async () => {
    const email = newEmail()
    const squatter = await squat(email)
    const { body } = await accept(await printed(await workspace(), email), email, SQUATTERS)
    expect(body.session.person.id).not.toBe(squatter.id)
    expect((await signIn(email, SQUATTERS)).body.session.person.id).toBe(body.session.person.id)
  })

  test('that has lost its address signs in again once it has set another', async () => {
    const email = newEmail()
    const squatter = await squat(email)
    await accept(await printed(await workspace(), email), email, OWNERS)
    const next = newEmail()
    const change = (address: string) =>
      app.send('PUT', '/api/v1/app/person', { key: squatter.key, body: { email: address, current_password: SQUATTERS } })
    expect((await change(next)).body.person).toMatchObject({ email: next, email_status: 'unverified', former_email: null })
    expect((await signIn(next, SQUATTERS)).body.session.person.id).toBe(squatter.id)
  })

  test('is marked where members are listed, and named by what it was when it has lost its address', async () => {
    const email = newEmail()
    const { tenantId, id, key } = await squat(email)
    const listed = async () => {
      const { members } = (await app.send('GET', '/api/v1/app/members', { key })).body
      return members.find((one: { id: string }) => one.id === id)
    }
    expect(await listed()).toMatchObject({ email, email_status: 'unverified', former_email: null })
    const { body } = await accept(await printed(tenantId, email), email, OWNERS)
    expect(await listed()).toMatchObject({ email: null, email_status: 'lost', former_email: email })
    const { members } = (await app.send('GET', '/api/v1/app/members', { key })).body
    expect(members.find((one: { id: string }) => one.id === body.session.person.id)).toMatchObject({ email, email_status: 'verified' })
  })
})

describe('what proves an address', () => {
  test("is no link that names none, though the operator printed it: it takes nobody's", async () => {
    const email = newEmail()
    const first = await squat(email)
    const joined = await accept(await printed(await workspace()), email, OWNERS)
    expect(joined.body.session.person).toMatchObject({ email, email_status: 'unverified' })
    expect((await account(first.key)).email_status).toBe('unverified')
  })

  test('takes nothing from who has proven it: their password is asked for', async () => {
    const email = newEmail()
    const { body } = await accept(await printed(await workspace(), email), email, OWNERS)
    const token = await printed(await workspace(), email)
    expect((await accept(token, email, SQUATTERS)).status).toBe(401)
    expect((await accept(token, email, OWNERS)).body.session.person.id).toBe(body.session.person.id)
  })

  test('is spent by one of those who open two such links at once', async () => {
    const email = newEmail()
    const tokens = [await printed(await workspace(), email), await printed(await workspace(), email)]
    const replies = await Promise.all(tokens.map((token, index) => accept(token, email, `${OWNERS} ${index}`)))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    const rows = await app.owner`select 1 from person where email_key = ${email} and email_verified_at is not null`
    expect(rows).toHaveLength(1)
  })
})

describe('nobody is told who has an account', () => {
  test('by an invitation: a password that fits no account makes one, whether or not others have the email', async () => {
    const [proven, unproven, nobodys] = [newEmail(), newEmail(), newEmail()]
    await accept(await printed(await workspace(), proven), proven, OWNERS)
    await squat(unproven)
    for (const email of [proven, unproven, nobodys]) {
      const { status, body } = await accept(await invited(await workspace()), email, 'quite another password')
      expect([status, body.session?.person.email_status]).toEqual([201, 'unverified'])
    }
  })

  test("by a change of one's own email", async () => {
    const [proven, unproven, nobodys] = [newEmail(), newEmail(), newEmail()]
    await accept(await printed(await workspace(), proven), proven, OWNERS)
    await squat(unproven)
    const asked = await squat(newEmail())
    for (const email of [proven, unproven, nobodys]) {
      const reply = await app.send('PUT', '/api/v1/app/person', { key: asked.key, body: { email, current_password: SQUATTERS } })
      expect([reply.status, reply.body.person]).toMatchObject([200, { email, email_status: 'unverified', former_email: null }])
    }
    expect((await signIn(proven, OWNERS)).status).toBe(201)
  })

  test("by many changes either: they are limited, the password's tries apart", async () => {
    const { key } = await squat(newEmail())
    const change = () => app.send('PUT', '/api/v1/app/person', { key, body: { name: 'Again' } })
    for (let times = 0; times < 30; times++) expect((await change()).status).toBe(200)
    const refused = await change()
    expect([refused.status, refused.body.error?.message]).toEqual([429, 'rate_limited:person'])
  })

  test('and a guess at a password by an invitation counts as a wrong one', async () => {
    const email = newEmail()
    await accept(await printed(await workspace(), email), email, OWNERS)
    for (let tries = 0; tries < 10; tries++) await accept(await invited(await workspace()), email, `guess number ${tries}`)
    const refused = await accept(await invited(await workspace()), email, OWNERS)
    expect([refused.status, refused.body.error?.message]).toEqual([429, 'rate_limited:sign_in'])
  })
})

describe('several accounts of one address', () => {
  test('are told apart by their passwords, the proven one first', async () => {
    const email = newEmail()
    await accept(await invited(await workspace()), email, OWNERS)
    const { body } = await accept(await printed(await workspace(), email), email, SQUATTERS)
    const third = await accept(await invited(await workspace()), email, 'the third password')
    expect((await signIn(email, SQUATTERS)).body.session.person.id).toBe(body.session.person.id)
    expect((await signIn(email, 'the third password')).body.session.person.id).toBe(third.body.session.person.id)
  })

  test('are one a workspace, and by its workspace each is found, however many there are', async () => {
    const email = newEmail()
    const places: string[] = []
    for (let nth = 0; nth < 4; nth++) {
      places.push(await workspace())
      expect((await accept(await invited(places[nth]!), email, `password number ${nth}`)).status).toBe(201)
    }
    const again = await accept(await invited(places[0]!), email, OWNERS)
    expect([again.status, again.body.error?.code]).toEqual([409, 'conflict'])
    expect([(await signIn(email, 'password number 3')).status, (await signIn(email, 'password number 2')).status]).toEqual([401, 201])
    expect((await signIn(email, 'password number 3', { workspace_id: places[3] })).body.session.workspace.id).toBe(places[3])
  })
})
