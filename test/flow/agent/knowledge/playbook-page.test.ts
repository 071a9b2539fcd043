/**
 * The page of a playbook's version over HTTP: what it changes and why, who can decide, and what a
 * decision does.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import type { PlaybookVersion } from '#domain/agent/knowledge/playbook'
import { newId } from '#kernel/ids'
import { makeDraft, makePlaybook } from '#test/support/agent/records'
import { createVisitor, signedInVisitor } from '#test/support/http/visitor'
import { forgetAttempts, joinAs, PASSWORD } from '#test/support/people'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })
afterEach(() => forgetAttempts(app))

const OLD = 'Ship on Friday.\nMention the <b>price</b> first.'
const NEW = 'Ship on Monday.\nMention the <b>price</b> first. 🎉'

const drafted = async (changes: Partial<PlaybookVersion> = {}, tenantId = app.tenantId) => {
  const place = { app, tenantId }
  const { id, versionId: first } = await makePlaybook(place, {
    slug: `launch-${newId()}`,
    content: OLD,
  })
  const author = { kind: 'agent', id: newId() } as const
  const { id: versionId } = await makeDraft(place, {
    playbook_id: id,
    content: NEW,
    rationale: 'Mondays did <i>better</i>',
    author,
    ...changes,
  })
  return {
    id,
    versionId,
    first,
    path: `/playbooks/${id}/versions/${versionId}`,
    firstPath: `/playbooks/${id}/versions/${first}`,
  }
}
const stateOf = async (id: string) =>
  (await app.owner`select state from playbook_version where id = ${id}`)[0]!.state

describe('the page of a version', () => {
  test('leads through sign-in to the words that change, and why', async () => {
    const { path } = await drafted()
    const { email } = await joinAs(app)
    const one = createVisitor(app)
    expect((await one.get(path)).location).toBe(`/sign-in?next=${encodeURIComponent(path)}`)
    expect((await one.send('/sign-in', { email, password: PASSWORD, next: path })).location).toBe(
      path,
    )
    const { status, text, headers } = await one.get(path)
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(text).not.toMatch(/<script|\son\w+=|style="|<b>|<i>/i)
    for (const part of [
      ...[
        'Activate this text of Launch posts?',
        'Ship on <del>Friday.\n</del><ins>Monday.\n</ins>Mention',
        '<ins>🎉</ins>',
        '&lt;b&gt;price&lt;/b&gt;',
      ],
      ...[
        'Mondays did &lt;i&gt;better&lt;/i&gt;',
        'The agent, in a job',
        'version 1, which is active now',
        '<dd>2</dd>',
      ],
    ])
      expect(text).toContain(part)
    expect(text).not.toContain('people outside the workspace')
  })

  test('warns of text from outside, and shows both texts where they have too little in common', async () => {
    const words = (prefix: string) =>
      Array.from({ length: 2_000 }, (_, n) => `${prefix}${n}`).join(' ')
    const { path } = await drafted({ untrusted: true, content: words('w') })
    const { one } = await signedInVisitor(app)
    const { text } = await one.get(path)
    expect(text).toContain('people outside the workspace wrote before it drafted this')
    expect(text).toContain('w1999')
    expect(text).toContain('Ship on')
  })

  test('is the same for unknown ids, for no ids and for those of other workspaces', async () => {
    const { one } = await signedInVisitor(app)
    const foreign = await drafted({}, (await app.newWorkspace()).tenantId)
    const { id } = await drafted()
    const pages = [
      foreign.path,
      `/playbooks/${id}/versions/${newId()}`,
      `/playbooks/${newId()}/versions/${newId()}`,
      '/playbooks/x/versions/%22',
    ]
    const replies = await Promise.all(pages.map((page) => one.get(page)))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([404]))
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    for (const decision of ['activate', 'reject'])
      expect((await one.send(foreign.path, { decision })).status).toBe(404)
    expect(await stateOf(foreign.versionId)).toBe('draft')
  })

  test('lets who may activate it, which retires the former one, and says who did', async () => {
    const { path, firstPath, versionId, first } = await drafted({ untrusted: true })
    const { one } = await signedInVisitor(app, { role: 'approver' })
    expect((await one.send(path, { decision: 'activate' })).location).toBe(path)
    expect([await stateOf(versionId), await stateOf(first)]).toEqual(['active', 'retired'])
    const { text } = await one.get(path)
    expect(text).toContain('Activated by')
    expect(text).not.toContain('<form')
    expect((await one.get(firstPath)).text).toContain('Another version has taken its place since.')
    // A second click, from a page that was open.
    const again = await one.send(path, { decision: 'activate' })
    expect([again.status, again.text]).toEqual([
      400,
      expect.stringContaining('Cannot activate: the version is active'),
    ])
  })

  test('lets who may reject it', async () => {
    const { path, versionId } = await drafted()
    const { one } = await signedInVisitor(app)
    await one.send(path, { decision: 'reject' })
    expect(await stateOf(versionId)).toBe('rejected')
    expect((await one.get(path)).text).toContain('Rejected by')
  })

  test('tells a member who cannot decide why, and takes no decision', async () => {
    const { path, versionId } = await drafted()
    const { one } = await signedInVisitor(app, { role: 'editor' })
    const { text } = await one.get(path)
    expect(text).toContain(
      'your role is editor, and activating a playbook requires owner or approver',
    )
    expect(text).not.toContain('<form')
    for (const decision of ['activate', 'reject'])
      expect((await one.send(path, { decision })).status).toBe(403)
    expect(await stateOf(versionId)).toBe('draft')
  })

  test('takes no form from another page', async () => {
    const { path, versionId } = await drafted()
    const { one } = await signedInVisitor(app)
    const { status } = await one.send(
      path,
      { decision: 'activate' },
      { origin: 'https://evil.example' },
    )
    expect(status).toBe(403)
    expect(await stateOf(versionId)).toBe('draft')
  })
})
