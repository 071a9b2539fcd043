import { expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { requiredAccess } from '#contract/op'
import { type AuthorNow, Authors, coversRole, mayAsMuch } from '#domain/agent/job/authors'
import { roles } from '#kernel/roles'

const anna: AuthorNow = {
  kind: 'session',
  id: 'p-1',
  personId: 'p-1',
  name: 'Anna',
  role: 'editor',
  scopes: null,
  gone: false,
}
const owner = { role: 'owner', scopes: null, name: 'Olga' } as const
const caller = { kind: 'session', id: 's-9', personId: 'p-9' } as const

test.each(roles.flatMap((role) => roles.map((other) => [role, other] as const)))(
  'whether the role %s may call all that %s may is what the operations say',
  (role, other) => {
    const may = (who: string) =>
      operations.filter((o) => who === 'owner' || (o.roles as readonly string[]).includes(who))
    const all = new Set(may(role))
    expect(coversRole(role, other)).toBe(may(other).every((o) => all.has(o)))
  },
)

test('operations ask for no scopes but those that are compared', () => {
  const asked = new Set(operations.flatMap((o) => requiredAccess(o)))
  expect([...asked].filter((scope) => scope !== 'session' && scope !== 'public').sort()).toEqual([
    'api:read',
    'api:write',
    'workspace:use',
  ])
})

test.each<
  [
    string,
    Partial<AuthorNow>,
    {
      role: 'owner' | 'editor' | 'viewer' | null
      scopes: ('api:read' | 'api:write' | 'workspace:use')[] | null
    },
    boolean,
  ]
>([
  ['an editor, as an owner', {}, owner, false],
  ['an editor, as a viewer', {}, { role: 'viewer', scopes: null }, true],
  ['somebody gone, as a viewer', { gone: true }, { role: 'viewer', scopes: null }, false],
  [
    'a key of the workspace with all scopes, as an owner',
    { role: null, scopes: ['api:read', 'api:write', 'workspace:use'] },
    owner,
    true,
  ],
  [
    'a key that reads, as an owner',
    { role: null, scopes: ['api:read', 'workspace:use'] },
    owner,
    false,
  ],
  [
    'a key that reads, as a key that reads',
    { role: null, scopes: ['api:read', 'workspace:use'] },
    { role: null, scopes: ['api:read', 'workspace:use'] },
    true,
  ],
  [
    'an owner, as a key of the workspace',
    { role: 'owner' },
    { role: null, scopes: ['api:read', 'api:write', 'workspace:use'] },
    true,
  ],
])('may do all that the other may: %s', (_, author, rights, may) => {
  expect(mayAsMuch({ ...anna, ...author }, rights)).toBe(may)
})

test('names are on one line, short, and without what nobody sees', () => {
  const authors = new Authors(
    [{ ...anna, name: `A\u202en\u200bna\n(owner)${'x'.repeat(100)}` }],
    caller,
    owner,
  )
  expect(authors.of(anna)!.label).toBe(`Anna (owner)${'x'.repeat(48)} (editor)`)
  expect(authors.sources).toEqual([`member Anna (owner)${'x'.repeat(48)}`])
  expect(new Authors([{ ...anna, name: '\u200b ' }], caller, owner).sources).toEqual([
    'member somebody who has left',
  ])
})

test('the words of the caller are nobody else’s, by whatever session or key', () => {
  const key: AuthorNow = {
    ...anna,
    kind: 'key',
    id: 'k-1',
    personId: 'p-9',
    name: 'laptop',
    role: 'owner',
    scopes: ['api:read', 'workspace:use'],
  }
  const authors = new Authors([key], caller, owner)
  expect(authors.of({ kind: 'session', id: 'another', personId: 'p-9' })).toMatchObject({
    isSelf: true,
    isLesser: false,
  })
  expect([authors.self.label, authors.of(key)]).toEqual([
    'Olga (owner)',
    { label: 'laptop (key, owner)', isSelf: true, isLesser: true, source: 'member laptop' },
  ])
  expect([authors.of(null), authors.of({ kind: 'agent', id: 'x' } as never)]).toEqual([
    undefined,
    undefined,
  ])
})
