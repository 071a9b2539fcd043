/**
 * Permissions: every operation for every role, by session and by key, and what only people can
 * reach.
 */
import { describe, expect, test } from 'bun:test'
import { keyOperations, operations } from '#contract/index'
import { type NamedOp, pathParams, readsOnly } from '#contract/op'
import { type Role, roles } from '#kernel/roles'
import { makeConversation, makeJob } from '#test/support/agent/records'
import type { Reply } from '#test/support/app'
import { connectionRow, identityRow } from '#test/support/channels/senders'
import { useContractApp } from '#test/support/contract/app'
import { call, legalInput, type Workspace } from '#test/support/contract/prepare'
import { sampleOf } from '#test/support/contract/sample'
import { newKeyOf, type Place, sharedWorkspaces } from '#test/support/contract/shared'
import { makeComment } from '#test/support/growth/records'
import { signedIn } from '#test/support/session'

const app = useContractApp()

const ofWorkspaces = operations.filter((o) => o.kind !== 'personal' && o.kind !== 'public')
const ofSessions = ofWorkspaces.filter(({ scope }) => scope === 'session')
const table = (some: NamedOp[]) => some.map((o) => [o.id, o] as const)
const cells = (some: NamedOp[]) =>
  some.flatMap((o) => roles.map((role) => [o.id, role, o] as const))

const allows = (o: NamedOp, role: Role): boolean => role === 'owner' || o.roles.includes(role)

/** Input that no operation accepts. */
const nonsense = (o: NamedOp) => ({ ...sampleOf(o, 'needed'), no_such_field: 1 })

const shared = sharedWorkspaces(app)

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
  'app.keys.revoke': async (place) => ({ id: (await newKeyOf(app, place, ['api:read'])).id }),
}

const inputs = new Map<string, Promise<Record<string, unknown>>>()
/** An input that an owner could use. Who only reads, or is refused, leaves it as it is. */
const inputToKeep = (workspace: Workspace, o: NamedOp) =>
  inputs.getOrInsertComputed(`${workspace.tenantId} ${o.id}`, () => legalInput(workspace, o))

const inputFor = async (o: NamedOp, place: Place, role: Role) => ({
  ...(await (readsOnly(o) ? inputToKeep : legalInput)(place.workspace, o)),
  ...(role === 'owner' ? {} : await own[o.id]?.(place)),
})

const expectForbidden = (reply: Reply, role: Role) => {
  expect([reply.status, reply.body.error?.code]).toEqual([403, 'forbidden'])
  expect(reply.body.error?.message).toContain(`the role ${role} cannot do this`)
}

/** Roles that are declared succeed; the others are refused whatever they send. */
const expectAsDeclared = async (
  o: NamedOp,
  role: Role,
  credentialOf: (place: Place) => Promise<string>,
) => {
  if (allows(o, role)) {
    const place = await shared.placeFor(o, role)
    const key = await credentialOf(place)
    const reply = await call({ app, key }, o, await inputFor(o, place, role))
    expect({ status: reply.status, error: reply.body.error }).toEqual({
      status: o.status,
      error: undefined,
    })
    return
  }
  const place = await shared.quietPlace(role)
  const key = await credentialOf(place)
  for (const given of [nonsense(o), await inputToKeep(place.workspace, o)])
    expectForbidden(await call({ app, key }, o, given), role)
}

describe.each(cells(ofWorkspaces))('%s as %s', (_, role, o) => {
  test('a session succeeds or is refused as declared', () =>
    expectAsDeclared(o, role, async ({ person }) => person.key))
})

// A key has the role of its member. That it may do what the role may, one role shows: the others
// differ in nothing but what they are refused.
const ofKeys = cells(keyOperations).filter(
  ([, role, o]) => !allows(o, role) || role === roles.findLast((one) => allows(o, one)),
)
describe.each(ofKeys)('%s as %s', (_, role, o) => {
  test("a member's key succeeds or is refused as declared", () =>
    expectAsDeclared(o, role, shared.keyOf))
})

describe.each(table(ofSessions))('%s', (_, o) => {
  test('needs a person: no credential is 401 and a key 403, before the input is checked', async () => {
    const place = await shared.quietPlace('owner')
    const { workspace } = place
    const ofPerson = await shared.keyOf(place)
    for (const input of [nonsense(o), await inputToKeep(workspace, o)]) {
      const nobody = await call({ app, key: null }, o, input)
      expect([
        nobody.status,
        nobody.body.error?.code,
        nobody.headers.get('www-authenticate'),
      ]).toEqual([401, 'unauthenticated', 'Bearer'])
      for (const key of [workspace.key, ofPerson]) {
        const reply = await call({ app, key }, o, input)
        expect([reply.status, reply.body.error?.code]).toEqual([403, 'forbidden'])
      }
    }
  })

  test('is refused to a session that has ended, and to one of a former member', async () => {
    const { workspace } = await shared.quietPlace('owner')
    const [ended, former] = [
      await signedIn(app, workspace.tenantId),
      await signedIn(app, workspace.tenantId),
    ]
    await app.owner`update session set revoked_at = now() where id = ${ended.sessionId}`
    await app.owner`delete from member where person_id = ${former.personId}`
    for (const { key } of [ended, former])
      expect((await call({ app, key }, o, await inputToKeep(workspace, o))).status).toBe(401)
  })
})

describe.each(table(ofSessions.filter((o) => pathParams(o.path).length > 0)))(
  '%s does not find',
  (_, o) => {
    test('an unknown id, or one of another workspace', async () => {
      const stranger = await signedIn(app, app.tenantId)
      const other = await shared.placeFor(o, 'owner')
      const foreign = await legalInput(other.workspace, o)
      // A tool is known by its name, in every workspace.
      for (const input of 'id' in foreign
        ? [sampleOf(o, 'needed'), foreign]
        : [sampleOf(o, 'needed')]) {
        const reply = await call({ app, key: stranger.key }, o, input)
        expect([reply.status, reply.body.error?.code]).toEqual([404, 'not_found'])
      }
      expect((await call({ app, key: other.person.key }, o, foreign)).status).toBe(o.status)
    })
  },
)

describe.each(table(operations.filter(({ kind }) => kind === 'personal')))('%s', (_, o) => {
  test('is open to every role, but only to people', async () => {
    for (const role of roles) {
      const { key } = await signedIn(app, app.tenantId, role)
      expect((await call({ app, key }, o, sampleOf(o, 'needed'))).status).not.toBe(403)
    }
    expect((await call({ app, key: null }, o, nonsense(o))).status).toBe(401)
    expect((await call({ app, key: app.key }, o, nonsense(o))).body.error?.code).toBe('forbidden')
  })
})
