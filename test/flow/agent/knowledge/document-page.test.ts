/** The page that a citation opens. */
import { afterEach, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { makeDocument } from '#test/support/agent/documents'
import { createVisitor, signedInVisitor } from '#test/support/http/visitor'
import { forgetAttempts, joinAs, PASSWORD } from '#test/support/people'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })
afterEach(() => forgetAttempts(app))

const signedIn = async () => (await signedInVisitor(app, { role: 'viewer' })).one
const CONTENT = '# One\n\nFirst <b>text</b>.\n\n# Two\n\nSecond.'

test('leads through sign-in to the passage, its heading and its place', async () => {
  const { id } = await makeDocument(
    { app, tenantId: app.tenantId },
    { content: CONTENT + newId(), fileName: 'a<i>.md' },
  )
  const one = createVisitor(app)
  const path = `/documents/${id}?at=0`
  expect((await one.get(path)).location).toBe(`/sign-in?next=${encodeURIComponent(path)}`)
  const { email } = await joinAs(app)
  expect((await one.send('/sign-in', { email, password: PASSWORD, next: path })).location).toBe(
    path,
  )
  const { status, text, headers } = await one.get(path)
  expect([status, headers.get('content-security-policy')]).toEqual([
    200,
    expect.stringContaining("default-src 'none'"),
  ])
  expect(text).not.toMatch(/<script|<b>|<i>/)
  for (const part of [
    'a&lt;i&gt;.md',
    'First &lt;b&gt;text',
    '<dd>One</dd>',
    '0–25 of ',
    'Nobody in this workspace answers for what this document says.',
  ])
    expect(text).toContain(part)
  expect((await one.get(`/documents/${id}?at=27`)).text).toContain('<dd>Two</dd>')
})

test('says so of a document that is not read, and answers for a trusted one', async () => {
  const place = { app, tenantId: app.tenantId }
  const one = await signedIn()
  const { id: failed } = await makeDocument(place, { status: 'failed' })
  expect((await one.get(`/documents/${failed}`)).text).toContain('it is failed, no_text: nothing.')
  const { id: trusted } = await makeDocument(place, { trusted: true })
  expect((await one.get(`/documents/${trusted}`)).text).not.toContain('Nobody in this workspace')
})

test('is 404 for what is not there, of another workspace, or beyond the end', async () => {
  const one = await signedIn()
  const { id } = await makeDocument({ app, tenantId: app.tenantId })
  const other = await makeDocument({ app, tenantId: (await app.newWorkspace()).tenantId })
  for (const path of [newId(), 'x', other.id, `${id}?at=100000`, `${id}?at=x`, `${id}?at=-1`])
    expect([path, (await one.get(`/documents/${path}`)).status]).toEqual([path, 404])
})
