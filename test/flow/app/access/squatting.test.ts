/**
 * Accounts made under someone else's email address. Only a link made for the address proves whose
 * it is.
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { acceptInvitation, forgetAttempts, inviteTo, signIn, tokenIn } from '#test/support/people'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp()
beforeEach(() => forgetAttempts(app))

const SQUATTERS = 'the password of a squatter'
const OWNERS = 'the password of the owner'
let count = 0
const newEmail = () => `real.owner${++count}@example.com`

/** The token of an invitation by an owner of the workspace. */
const ownerInvitation = async (tenantId: string, email?: string): Promise<string> => {
  const { key } = await signedIn(app, tenantId)
  const body = { role: 'editor', ...(email === undefined ? {} : { email }) }
  return tokenIn((await app.send('POST', '/api/v1/app/invitations', { key, body })).body.url)
}
/** The token of an invitation by the operator. */
const operatorInvitation = (tenantId: string, email?: string): Promise<string> =>
  inviteTo(app, { tenantId, role: 'editor', email })
const accept = (token: string, email: string, password: string) =>
  acceptInvitation(app, { token, email, password })
const account = async (key: string) =>
  (await app.send('GET', '/api/v1/app/person', { key })).body.person
const workspace = async () => (await app.newWorkspace()).tenantId

/** A person who took another's address by an invitation of their own workspace. */
const squat = async (email: string) => {
  const tenantId = await workspace()
  const { person, access_token } = (
    await accept(await ownerInvitation(tenantId, email), email, SQUATTERS)
  ).body.session
  return { tenantId, id: person.id as string, key: access_token as string }
}

describe('an account made by an invitation of a workspace', () => {
  test('does not keep the owner of its address out of another workspace', async () => {
    const email = newEmail()
    const squatter = await squat(email)
    const otherTenantId = await workspace()
    const joined = await accept(await ownerInvitation(otherTenantId, email), email, OWNERS)
    expect([joined.status, joined.body.session?.person.id === squatter.id]).toEqual([201, false])
    const [one, other] = [await signIn(app, email, OWNERS), await signIn(app, email, SQUATTERS)]
    expect([one.body.session.workspace.id, other.body.session.workspace.id]).toEqual([
      otherTenantId,
      squatter.tenantId,
    ])
  })

  test("loses its address to the person who opens the operator's link for it, and keeps everything else", async () => {
    const email = newEmail()
    const squatter = await squat(email)
    const otherTenantId = await workspace()
    const joined = await accept(
      await operatorInvitation(otherTenantId, email),
      'typed.instead@example.com',
      OWNERS,
    )
    const { session } = joined.body
    expect(session.person).toMatchObject({ email, email_status: 'verified' })
    expect(session.person.id).not.toBe(squatter.id)
    expect(await account(squatter.key)).toMatchObject({
      id: squatter.id,
      email: null,
      email_status: 'lost',
      former_email: email,
    })
    expect([
      (await signIn(app, email, SQUATTERS)).status,
      (await signIn(app, email, OWNERS)).status,
    ]).toEqual([401, 201])
    const workspaces = async (key: string) =>
      (await app.send('GET', '/api/v1/app/session', { key })).body.session.workspaces
    const ids = async (key: string) => (await workspaces(key)).map(({ id }: { id: string }) => id)
    expect([await ids(squatter.key), await ids(session.access_token)]).toEqual([
      [squatter.tenantId],
      [otherTenantId],
    ])
    const [audited] = await app.owner`select actor_kind, ref_id from audit
      where tenant_id = ${squatter.tenantId} and operation = 'app.person.emailLost'`
    expect({ ...audited }).toEqual({ actor_kind: 'system', ref_id: squatter.id })
  })

  test('is not joined by the owner of its address, even if the squatter has given them its password', async () => {
    const email = newEmail()
    const squatter = await squat(email)
    const { body } = await accept(
      await operatorInvitation(await workspace(), email),
      email,
      SQUATTERS,
    )
    expect(body.session.person.id).not.toBe(squatter.id)
    expect((await signIn(app, email, SQUATTERS)).body.session.person.id).toBe(
      body.session.person.id,
    )
  })

  test('that has lost its address can sign in again once it has set another', async () => {
    const email = newEmail()
    const squatter = await squat(email)
    await accept(await operatorInvitation(await workspace(), email), email, OWNERS)
    const next = newEmail()
    const change = (address: string) =>
      app.send('PUT', '/api/v1/app/person', {
        key: squatter.key,
        body: { email: address, current_password: SQUATTERS },
      })
    expect((await change(next)).body.person).toMatchObject({
      email: next,
      email_status: 'unverified',
      former_email: null,
    })
    expect((await signIn(app, next, SQUATTERS)).body.session.person.id).toBe(squatter.id)
  })

  test('is marked in the list of members, with its former address once it has lost it', async () => {
    const email = newEmail()
    const { tenantId, id, key } = await squat(email)
    const listed = async () => {
      const { members } = (await app.send('GET', '/api/v1/app/members', { key })).body
      return members.find((one: { id: string }) => one.id === id)
    }
    expect(await listed()).toMatchObject({ email, email_status: 'unverified', former_email: null })
    const { body } = await accept(await operatorInvitation(tenantId, email), email, OWNERS)
    expect(await listed()).toMatchObject({ email: null, email_status: 'lost', former_email: email })
    const { members } = (await app.send('GET', '/api/v1/app/members', { key })).body
    expect(members.find((one: { id: string }) => one.id === body.session.person.id)).toMatchObject({
      email,
      email_status: 'verified',
    })
  })
})

describe('proof of an address', () => {
  test('does not come from a link that names no address, even if the operator printed it', async () => {
    const email = newEmail()
    const first = await squat(email)
    const joined = await accept(await operatorInvitation(await workspace()), email, OWNERS)
    expect(joined.body.session.person).toMatchObject({ email, email_status: 'unverified' })
    expect((await account(first.key)).email_status).toBe('unverified')
  })

  test('takes nothing from an account with the address proven: its password is required', async () => {
    const email = newEmail()
    const { body } = await accept(await operatorInvitation(await workspace(), email), email, OWNERS)
    const token = await operatorInvitation(await workspace(), email)
    expect((await accept(token, email, SQUATTERS)).status).toBe(401)
    expect((await accept(token, email, OWNERS)).body.session.person.id).toBe(body.session.person.id)
  })

  test('goes to one of two people who open such links at once', async () => {
    const email = newEmail()
    const tokens = [
      await operatorInvitation(await workspace(), email),
      await operatorInvitation(await workspace(), email),
    ]
    const replies = await Promise.all(
      tokens.map((token, index) => accept(token, email, `${OWNERS} ${index}`)),
    )
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    const rows = await app.owner`select 1 from person where email_key = ${email}
        and email_verified_at is not null`
    expect(rows).toHaveLength(1)
  })
})

describe('nobody can find out who has an account', () => {
  test('by an invitation: a password that fits no account makes one, whether or not others have the email', async () => {
    const [proven, unproven, nobodys] = [newEmail(), newEmail(), newEmail()]
    await accept(await operatorInvitation(await workspace(), proven), proven, OWNERS)
    await squat(unproven)
    for (const email of [proven, unproven, nobodys]) {
      const { status, body } = await accept(
        await ownerInvitation(await workspace()),
        email,
        'quite another password',
      )
      expect([status, body.session?.person.email_status]).toEqual([201, 'unverified'])
    }
  })

  test("by changing one's own email", async () => {
    const [proven, unproven, nobodys] = [newEmail(), newEmail(), newEmail()]
    await accept(await operatorInvitation(await workspace(), proven), proven, OWNERS)
    await squat(unproven)
    const prober = await squat(newEmail())
    for (const email of [proven, unproven, nobodys]) {
      const reply = await app.send('PUT', '/api/v1/app/person', {
        key: prober.key,
        body: { email, current_password: SQUATTERS },
      })
      expect([reply.status, reply.body.person]).toMatchObject([
        200,
        { email, email_status: 'unverified', former_email: null },
      ])
    }
    expect((await signIn(app, proven, OWNERS)).status).toBe(201)
  })

  test('by many changes: they have a rate limit, apart from that of wrong passwords', async () => {
    const { key } = await squat(newEmail())
    const change = () => app.send('PUT', '/api/v1/app/person', { key, body: { name: 'Again' } })
    for (let times = 0; times < 30; times++) expect((await change()).status).toBe(200)
    const refused = await change()
    expect([refused.status, refused.body.error?.message]).toEqual([429, 'rate_limited:person'])
  })

  test('by guessing a password with an invitation: it counts as a wrong one', async () => {
    const email = newEmail()
    await accept(await operatorInvitation(await workspace(), email), email, OWNERS)
    for (let tries = 0; tries < 10; tries++)
      await accept(await ownerInvitation(await workspace()), email, `guess number ${tries}`)
    const refused = await accept(await ownerInvitation(await workspace()), email, OWNERS)
    expect([refused.status, refused.body.error?.message]).toEqual([429, 'rate_limited:sign_in'])
  })
})

describe('several accounts of one address', () => {
  test('are told apart by their passwords, the proven one first', async () => {
    const email = newEmail()
    await accept(await ownerInvitation(await workspace()), email, OWNERS)
    const { body } = await accept(
      await operatorInvitation(await workspace(), email),
      email,
      SQUATTERS,
    )
    const third = await accept(
      await ownerInvitation(await workspace()),
      email,
      'the third password',
    )
    expect((await signIn(app, email, SQUATTERS)).body.session.person.id).toBe(
      body.session.person.id,
    )
    expect((await signIn(app, email, 'the third password')).body.session.person.id).toBe(
      third.body.session.person.id,
    )
  })

  test('cannot be in one workspace, and each is found by its workspace, however many there are', async () => {
    const email = newEmail()
    const places: string[] = []
    for (let nth = 0; nth < 4; nth++) {
      places.push(await workspace())
      expect(
        (await accept(await ownerInvitation(places[nth]!), email, `password number ${nth}`)).status,
      ).toBe(201)
    }
    const again = await accept(await ownerInvitation(places[0]!), email, OWNERS)
    expect([again.status, again.body.error?.code]).toEqual([409, 'conflict'])
    expect([
      (await signIn(app, email, 'password number 3')).status,
      (await signIn(app, email, 'password number 2')).status,
    ]).toEqual([401, 201])
    expect(
      (await signIn(app, email, 'password number 3', { workspace_id: places[3] })).body.session
        .workspace.id,
    ).toBe(places[3])
  })
})
