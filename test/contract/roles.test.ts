/**
 * Permissions: every operation for every role, by session and by key, and what only people can
 * reach.
 */
import { describe, expect, test } from 'bun:test'
import { keyOperations, operations } from '#contract/index'
import { type NamedOp, pathParams } from '#contract/op'
import { type Role, roles } from '#kernel/roles'
import { scopes } from '#kernel/scopes'
import { makeConversation, makeJob } from '#test/support/agent/records'
import type { Reply } from '#test/support/app'
import { connectionRow, identityRow } from '#test/support/channels/senders'
import { call, legalInput, newWorkspace, type Workspace } from '#test/support/contract/prepare'
import { sampleOf } from '#test/support/contract/sample'
import { makeComment } from '#test/support/growth/records'
import { type SignedIn, signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp()

const ofWorkspaces = operations.filter((o) => o.kind !== 'personal' && o.kind !== 'public')
const ofSessions = ofWorkspaces.filter(({ scope }) => scope === 'session')
const table = (some: NamedOp[]) => some.map((o) => [o.id, o] as const)
const cells = (some: NamedOp[]) =>
  some.flatMap((o) => roles.map((role) => [o.id, role, o] as const))

const allows = (o: NamedOp, role: Role): boolean => role === 'owner' || o.roles.includes(role)

/** Input that no operation accepts. */
const nonsense = (o: NamedOp) => ({ ...sampleOf(o, 'needed'), no_such_field: 1 })

interface Place {
  workspace: Workspace
  person: SignedIn
}

const keyOf = async ({ workspace, person }: Place, granted = [...scopes]) => {
  const created = await app.newKey(granted, workspace.tenantId)
  await app.owner`update api_key set person_id = ${person.personId} where id = ${created.id}`
  return created
}

/** A conversation that the person has begun. */
const conversationOf = async ({ workspace, person: { personId } }: Place): Promise<string> =>
  (await makeConversation(workspace, { person_id: personId, visibility: 'private' })).id

/** Operations that everyone can use on what is theirs: the input for roles other than owner. */
const own: Record<string, (place: Place) => Promise<Record<string, string>>> = {
  // Viewers write, rename and delete where they have begun; who sees a conversation, its starter
  // decides.
  'agent.conversations.update': async (place) => ({ id: await conversationOf(place) }),
  'agent.conversations.remove': async (place) => ({ id: await conversationOf(place) }),
  'agent.conversations.send': async (place) => ({ id: await conversationOf(place) }),
  'agent.conversationPeople.add': async (place) => ({ id: await conversationOf(place) }),
  'agent.conversationPeople.remove': async (place) => ({ id: await conversationOf(place) }),
  'agent.jobs.cancel': ({ workspace, person: { sessionId: id, personId } }) =>
    makeJob(workspace, { on_behalf: { kind: 'session', id, personId } }),
  'agent.channelIdentities.remove': async ({ workspace, person: { personId } }) => {
    const id = await connectionRow(workspace)
    return { id, identityId: await identityRow(workspace, { connection: id, personId }) }
  },
  // Editors delete what they said themselves.
  'growth.items.uncomment': async ({ workspace, person: { personId } }) =>
    makeComment(workspace, { kind: 'person', id: personId }),
  'app.members.remove': async ({ person }) => ({ id: person.personId }),
  'app.keys.revoke': async (place) => ({ id: (await keyOf(place, ['api:read'])).id }),
}

const newPlace = async (role: Role): Promise<Place> => {
  const workspace = await newWorkspace(app)
  return { workspace, person: await signedIn(app, workspace.tenantId, role) }
}

const inputFor = async (o: NamedOp, place: Place, role: Role) => ({
  ...(await legalInput(place.workspace, o)),
  ...(role === 'owner' ? {} : await own[o.id]?.(place)),
})

const expectForbidden = (reply: Reply, role: Role) => {
  expect([reply.status, reply.body.error?.code]).toEqual([403, 'forbidden'])
  expect(reply.body.error?.message).toContain(`the role ${role} cannot do this`)
}

/**
 * By operation: a workspace and an input that an owner could use there. Who is refused changes
 * nothing, so all of them share it.
 */
const refusing = new Map<
  string,
  Promise<{ workspace: Workspace; input: Record<string, unknown> }>
>()
const newRefusing = async (o: NamedOp) => {
  const workspace = await newWorkspace(app)
  return { workspace, input: await legalInput(workspace, o) }
}

/** Roles that are declared succeed; the others are refused whatever they send. */
const expectAsDeclared = async (
  o: NamedOp,
  role: Role,
  credentialOf: (place: Place) => Promise<string>,
) => {
  if (allows(o, role)) {
    const place = await newPlace(role)
    const reply = await call(
      { app, key: await credentialOf(place) },
      o,
      await inputFor(o, place, role),
    )
    expect({ status: reply.status, error: reply.body.error }).toEqual({
      status: o.status,
      error: undefined,
    })
    return
  }
  const { workspace, input } = await refusing.getOrInsertComputed(o.id, () => newRefusing(o))
  const key = await credentialOf({
    workspace,
    person: await signedIn(app, workspace.tenantId, role),
  })
  for (const given of [nonsense(o), input])
    expectForbidden(await call({ app, key }, o, given), role)
}

describe.each(cells(ofWorkspaces))('%s as %s', (_, role, o) => {
  test('a session succeeds or is refused as declared', () =>
    expectAsDeclared(o, role, async ({ person }) => person.key))
})

describe.each(cells(keyOperations))('%s as %s', (_, role, o) => {
  test("a member's key succeeds or is refused as declared", () =>
    expectAsDeclared(o, role, async (place) => (await keyOf(place)).api_key))
})

describe.each(table(ofSessions))('%s', (_, o) => {
  test('needs a person: no credential is 401 and a key 403, before the input is checked', async () => {
    const { workspace, person } = await newPlace('owner')
    const { api_key } = await keyOf({ workspace, person })
    for (const input of [nonsense(o), await legalInput(workspace, o)]) {
      const nobody = await call({ app, key: null }, o, input)
      expect([
        nobody.status,
        nobody.body.error?.code,
        nobody.headers.get('www-authenticate'),
      ]).toEqual([401, 'unauthenticated', 'Bearer'])
      for (const key of [workspace.key, api_key]) {
        const reply = await call({ app, key }, o, input)
        expect([reply.status, reply.body.error?.code]).toEqual([403, 'forbidden'])
      }
    }
  })

  test('is refused to a session that has ended, and to one of a former member', async () => {
    const [{ workspace, person }, gone] = [await newPlace('owner'), await newPlace('owner')]
    await app.owner`update session set revoked_at = now() where id = ${person.sessionId}`
    await app.owner`delete from member where person_id = ${gone.person.personId}`
    for (const { key } of [person, gone.person])
      expect((await call({ app, key }, o, await legalInput(workspace, o))).status).toBe(401)
  })
})

describe.each(table(ofSessions.filter((o) => pathParams(o.path).length > 0)))(
  '%s does not find',
  (_, o) => {
    test('an unknown id, or one of another workspace', async () => {
      const [{ person }, other] = [await newPlace('owner'), await newPlace('owner')]
      const foreign = await legalInput(other.workspace, o)
      // A tool is known by its name, in every workspace.
      for (const input of 'id' in foreign
        ? [sampleOf(o, 'needed'), foreign]
        : [sampleOf(o, 'needed')]) {
        const reply = await call({ app, key: person.key }, o, input)
        expect([reply.status, reply.body.error?.code]).toEqual([404, 'not_found'])
      }
      expect((await call({ app, key: other.person.key }, o, foreign)).status).toBe(o.status)
    })
  },
)

describe.each(table(operations.filter(({ kind }) => kind === 'personal')))('%s', (_, o) => {
  test('is open to every role, but only to people', async () => {
    for (const role of roles) {
      const { person } = await newPlace(role)
      expect((await call({ app, key: person.key }, o, sampleOf(o, 'needed'))).status).not.toBe(403)
    }
    expect((await call({ app, key: null }, o, nonsense(o))).status).toBe(401)
    const { workspace } = await newPlace('owner')
    expect((await call({ app, key: workspace.key }, o, nonsense(o))).body.error?.code).toBe(
      'forbidden',
    )
  })
})
