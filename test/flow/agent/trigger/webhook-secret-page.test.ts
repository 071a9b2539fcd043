/**
 * The page of an approved webhook rule: its secret is shown there once, to whoever asked for the
 * rule or approved it.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { overJob, turn, waitingJob } from '#test/support/agent/agent'
import { post } from '#test/support/agent/webhook-rules'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { expectNoFlaws } from '#test/support/http/look'
import { signedInVisitor } from '#test/support/http/visitor'
import { scriptedModel } from '#test/support/model/scripted-model'
import { forgetAttempts, joinAs, PASSWORD } from '#test/support/people'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const model = scriptedModel((_, answers) =>
  answers === 0
    ? { calls: [['create_webhook_rule', { name: 'Orders', goal: 'Say what came' }]] }
    : { text: 'Made.' },
)
const app = useApp({ model })
afterEach(() => forgetAttempts(app))

/** A rule that the agent asks for on behalf of somebody else. */
const asked = async () => {
  const { sessionId: id, personId } = await signedIn(app, app.tenantId, 'approver')
  const job = await turn(app, { content: 'go', by: { kind: 'session', id, personId } })
  await waitingJob(app, job)
  const [approval] = await app.owner`select id from agent_approval where job_id = ${job}`
  return { job, path: `/approvals/${approval!.id}` }
}

const visitor = async () => (await signedInVisitor(app)).one

const approving = {
  decision: 'approve',
  arguments: JSON.stringify({ name: 'Orders', goal: 'Say what came' }),
}
const SECRET = /whsec_[A-Za-z0-9+/=]{20,}/

describe('over HTTP', () => {
  test('is shown once, to the approver, and signs posts that begin jobs', async () => {
    const [{ job, path }, approver, other] = [await asked(), await visitor(), await visitor()]
    expect((await approver.get(path)).text).not.toContain('Show the secret')
    expect((await approver.send(path, { decision: 'reveal' })).status).toBe(409)
    expect((await approver.send(path, approving)).status).toBe(303)
    await overJob(app, job)
    const { text, headers } = await approver.get(path)
    expect(text).toContain('Show the secret')
    expect(text).not.toMatch(SECRET)
    const refused = await other.send(path, { decision: 'reveal' })
    expect([refused.status, SECRET.test(refused.text)]).toEqual([403, false])
    expect(refused.text).toContain(
      'Only whoever asked for the rule or approved it is shown its secret',
    )
    // A form of another site shows nothing.
    expect(
      (await approver.send(path, { decision: 'reveal' }, { origin: 'https://evil.example' }))
        .status,
    ).toBe(403)
    const shown = await approver.send(path, { decision: 'reveal' })
    expect([
      shown.status,
      shown.headers.get('cache-control'),
      headers.get('cache-control'),
    ]).toEqual([200, 'no-store', 'no-store'])
    const [secret] = SECRET.exec(shown.text)!
    const [rulePath] = /\/webhooks\/rules\/[0-9a-f-]{36}/.exec(shown.text)!
    expect((await post(app.url, { path: rulePath, secret: secret! })).status).toBe(200)
    const again = await approver.send(path, { decision: 'reveal' })
    expect([again.status, SECRET.test(again.text)]).toEqual([409, false])
    expect((await approver.get(path)).text).toContain('The secret of this rule was shown already')
    await app.owner`delete from webhook_rule where tenant_id = ${app.tenantId}`
    const gone = await approver.get(path)
    expect([gone.status, gone.text.includes('secret of this rule')]).toEqual([200, false])
  })

  test('is nowhere while the rule is not made, nor after a rejection', async () => {
    const [{ job, path }, approver] = [await asked(), await visitor()]
    await approver.send(path, { decision: 'reject' })
    await overJob(app, job)
    expect((await approver.get(path)).text).not.toContain('secret')
    expect((await approver.send(path, { decision: 'reveal' })).status).toBe(409)
  })
})

const browser = browserPath()

describe.skipIf(!browser)('in a browser', () => {
  test('a person approves the rule and is shown its secret', async () => {
    const { job, path } = await asked()
    const { email } = await joinAs(app)
    await using chromium = await openBrowser()
    const page = await chromium.newPage()
    page.setDefaultTimeout(30_000)
    await page.goto(`${app.url}${path}`)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Approve' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    await overJob(app, job)
    await page.reload()
    await expectNoFlaws(page, 'webhook-rule-approved')
    await page.getByRole('button', { name: 'Show the secret' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'The secret of the webhook rule' }).waitFor()
    await expectNoFlaws(page, 'webhook-rule-secret')
    const shown = await page.getByRole('main').innerText()
    expect(shown).toMatch(SECRET)
    expect(shown).toMatch(/http:\/\/\S+\/webhooks\/rules\/[0-9a-f-]{36}\n/)
    await page.getByRole('link', { name: 'Back to the approval' }).click()
    await page.getByText('The secret of this rule was shown already').waitFor()
  })
})
