/**
 * Hints of what changes a workspace without a letter: people who sign in, at any process, and
 * operators.
 */
import { expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { readsOnly } from '#contract/op'
import { resetByOperator } from '#ops/operator/admin/recovery'
import { createKey } from '#ops/operator/admin/workspaces'
import { followHints, type HintClient } from '#test/support/http/hint-stream'
import {
  acceptInvitation,
  askForCode,
  decide,
  inviteTo,
  joinAs,
  PASSWORD,
  signIn,
  tokenIn,
} from '#test/support/people'
import { tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

const overrides = { streamTimes: { commentMs: 15_000, lookMs: 20 } }
const app = useApp({ overrides })
/** Where people sign in; it does not own the workspace. */
const other = useApp(() => ({ database: app.options, overrides }))

/** Operations that belong to no workspace: how each is called, and the kinds of its hints. */
const deeds: Record<string, { kinds: string[]; call: () => Promise<{ status: number }> }> = {
  'app.session.signIn': {
    kinds: ['session'],
    call: async () => signIn(other, (await joinAs(app)).email),
  },
  'app.session.signOut': {
    kinds: ['session'],
    call: async () => send('DELETE', '/api/v1/app/session', await joinAs(app)),
  },
  'app.session.changePassword': {
    kinds: ['session'],
    async call() {
      const person = await joinAs(app)
      await signIn(app, person.email)
      const body = { current_password: PASSWORD, new_password: 'another horse battery' }
      return send('POST', '/api/v1/app/session/password', person, body)
    },
  },
  'app.sessions.revoke': {
    kinds: ['session'],
    async call() {
      const person = await joinAs(app)
      return send('DELETE', `/api/v1/app/sessions/${person.id}`, person)
    },
  },
  'app.sessions.signOutEverywhere': {
    kinds: ['session'],
    call: async () => send('DELETE', '/api/v1/app/sessions', await joinAs(app)),
  },
  'app.person.update': {
    kinds: ['member'],
    call: async () => send('PUT', '/api/v1/app/person', await joinAs(app), { name: 'Bo' }),
  },
  'app.person.delete': {
    kinds: ['invitation', 'key', 'member', 'session'],
    async call() {
      const person = await joinAs(app, { role: 'viewer' })
      return send('DELETE', '/api/v1/app/person', person, { current_password: PASSWORD })
    },
  },
  'app.person.resetPassword': {
    kinds: ['key', 'member', 'session'],
    async call() {
      const { email } = await joinAs(app)
      const parts = { db: other.workplace.db, publicUrl: other.url }
      const token = tokenIn((await resetByOperator(parts, { email })).url)
      return other.send('POST', '/api/v1/app/person/reset', {
        key: null,
        body: { token, new_password: 'another horse battery' },
      })
    },
  },
  'app.invitations.accept': {
    kinds: ['invitation', 'member'],
    call: async () =>
      acceptInvitation(other, {
        token: await inviteTo(app, { role: 'viewer' }),
        email: `${crypto.randomUUID()}@example.com`,
        name: 'Bo',
      } as never),
  },
  'app.device.decide': {
    kinds: ['key'],
    async call() {
      const { access } = await joinAs(app)
      return decide(other, access, (await askForCode(other)).user_code)
    },
  },
}

/** Those that change nothing that others are shown, and why. */
const silent: Record<string, string> = {
  'app.session.refresh': 'a new token of the same session',
  'app.session.switchWorkspace': "the person's own session alone; its tabs learn it by 409",
  'app.session.confirm': "when the person's own session needs the password next",
}

const send = (method: string, path: string, { access: key }: { access: string }, body?: object) =>
  other.send(method, path, { key, ...(body && { body }) })

const heardOf = (stream: HintClient, what: string): string[] =>
  [...new Set(stream.hints().flatMap((hint) => (hint.what === what ? hint.kind : [])))].sort()

test.each(Object.entries(deeds))('owners are told of %s, and nobody else', async (what, deed) => {
  const { kinds, call } = deed
  await using owner = await followHints(app.url, { key: await tokenOf(app, app.tenantId) })
  await using viewer = await followHints(app.url, {
    key: await tokenOf(app, app.tenantId, 'viewer'),
  })
  expect((await call()).status).toBeLessThan(300)
  await owner.until(({ data }) => data.what === what)
  expect(heardOf(owner, what)).toEqual(kinds)
  expect(viewer.hints()).toEqual([])
})

test('owners are told of what operators do', async () => {
  await using owner = await followHints(app.url, { key: await tokenOf(app, app.tenantId) })
  const asked = { tenantId: app.tenantId, scopes: ['api:read' as const], name: 'x' }
  const { id } = await createKey(other.workplace.db, asked)
  const hint = await owner.until(({ data }) => data.id === id)
  expect(hint.data).toMatchObject({ what: 'operator.keys.create', kind: 'key' })
})

test('every operation that belongs to no workspace and changes something is here', () => {
  const changing = operations.filter(
    (o) => (o.kind === 'personal' || o.kind === 'public') && !readsOnly(o),
  )
  expect([...Object.keys(deeds), ...Object.keys(silent)].sort()).toEqual(
    changing.map(({ id }) => id).sort(),
  )
})
