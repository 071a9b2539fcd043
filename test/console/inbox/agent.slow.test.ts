/** What the agent asks of people, decided in a real Chromium by keyboard. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import type { ConsoleState } from '#edge/console/bundle'
import { scopes } from '#kernel/scopes'
import { asKey, turn } from '#test/support/agent/agent'
import { eventually } from '#test/support/app'
import { devChannel, postDev } from '#test/support/channels/dev-posts'
import { makeReply, reply, replyOnce } from '#test/support/channels/replies'
import { builtConsole } from '#test/support/console/built'
import { browserOf, expectAccessible, openTab, type Watched } from '#test/support/console/tab'
import { insertItem } from '#test/support/database/writes'
import { makeSignal } from '#test/support/growth/records'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { openReceiver } from '#test/support/http/receiver'
import { scriptedModel } from '#test/support/model/scripted-model'
import { type SignedIn, signedInAs } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const path = browserPath()
if (!path) console.warn('No Chromium here: nobody decides what the agent asks.')

const LONG_MS = 300_000

/** Markup, a script's address, marks that turn the text around, and a word wider than a screen. */
const HOSTILE = `<img src=x onerror=alert(1)> javascript:alert(1) \u202Edcba\u202C a\u200Bb ${'x'.repeat(1_500)}`

const ANSWER = 'We open at *nine*, and close at six.'
const CONTENT = 'Approve the draft about'

/**
 * Reads what strangers wrote, then asks to approve the draft that the message names. Strangers get
 * an answer, which waits for a person.
 */
const model = scriptedModel(({ messages }, answers) => {
  const { text } = messages.findLast(({ role }) => role === 'user') as { text: string }
  if (!text.includes(CONTENT)) return { text: ANSWER }
  const id = /[0-9a-f-]{36}/.exec(text)?.[0]
  if (answers === 0)
    return { text: 'First what others wrote.', calls: [['growth_list_signals', {}]] }
  if (answers === 1) return { calls: [['growth_approve_item', { id }]] }
  return { text: 'Done.' }
})

const receiver = await openReceiver()
afterAll(() => receiver[Symbol.asyncDispose]())
const env = {
  EGRESS_ALLOW: `127.0.0.1:${receiver.port}`,
  OPENAI_API_KEY: 'none',
  OPENAI_BASE_URL: 'http://127.0.0.1:9',
}
/** A message with this text gets no answer that says anything. */
const BROKEN = 'broken'

describe.skipIf(!path)('what the agent asks', () => {
  let bundle: ConsoleState = 'building'
  const app = useApp(() => ({ env, overrides: { console: () => bundle, thinker: model } }))
  const browser = use(openBrowser)
  let context: BrowserContext & Watched
  let lena: SignedIn

  beforeAll(async () => {
    bundle = (await builtConsole()).bundle
    const olga = await signedInAs(app, app.tenantId, { name: 'Olga Owner', role: 'owner' })
    lena = await signedInAs(app, app.tenantId, { name: 'Lena <b>Lead</b>', role: 'approver' })
    context = await browserOf(browser, app, olga)
    const { api_key: key } = await app.newKey([...scopes], app.tenantId)
    await makeSignal({ app, tenantId: app.tenantId, key, session: olga.key })
  })

  /** A call of a job that waits for a person. */
  const asks = async (body: string): Promise<{ id: string; item: string }> => {
    const item = await insertItem(app, app.tenantId, { body })
    const by = await asKey(app)
    const job = await turn(app, { content: `${CONTENT} ${item} ${HOSTILE}`, by })
    const rows = await eventually(
      () => app.owner<{ id: string }[]>`select id from agent_approval where job_id = ${job}`,
      ({ length }) => length === 1,
    )
    return { id: rows[0]!.id, item }
  }
  const open = (id: string) => openTab(context, app, `/console/inbox/call/${id}`)
  const bodyOf = async (item: string) =>
    (
      await app.owner<
        { body: string; status: string }[]
      >`select body, status from item where id = ${item}`
    )[0]!
  const said = (page: Page, text: string) => page.getByText(text).first().waitFor()

  test(
    'is allowed with a changed text, and the row says what became of it',
    async () => {
      const { id, item } = await asks(`Shipping on Fridays is a habit.\n\n${HOSTILE}`)
      const page = await open(id)
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
      await said(page, 'The agent was told')
      await said(page, 'Its last steps')
      await said(page, 'Words of others')
      await expectAccessible(page, 'call')
      await page.keyboard.press('e')
      await page.getByLabel('Text', { exact: true }).waitFor()
      await page.keyboard.press('Control+A')
      await page.keyboard.type('Shipping on Fridays is a choice.')
      await said(page, 'Your changes')
      await expectAccessible(page, 'call-edited')
      await page.reload()
      await page.getByLabel('Text', { exact: true }).waitFor()
      expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe(
        'Shipping on Fridays is a choice.',
      )
      await page.getByLabel('Text', { exact: true }).press('Control+Enter')
      const allowed = page.getByRole('list', { name: 'Calls that you have allowed' })
      await allowed.getByText('Done').waitFor()
      await allowed.getByRole('link').press('Enter')
      await page.getByText(/^Allowed with changes by/).waitFor()
      await expectAccessible(page, 'call-done')
      expect(await bodyOf(item)).toEqual({
        body: 'Shipping on Fridays is a choice.',
        status: 'approved',
      })
      await page.close()
    },
    LONG_MS,
  )

  test(
    'is refused with a reason, which the agent is told',
    async () => {
      const { id, item } = await asks('Meetings are free.')
      const page = await openTab(context, app, `/console/inbox/draft/${item}`)
      await page.getByRole('link', { name: /^Look at its call/ }).press('Enter')
      await page.getByRole('button', { name: 'Refuse' }).waitFor()
      await page.keyboard.press('x')
      await page.getByRole('dialog', { name: 'Refuse this call?' }).waitFor()
      await expectAccessible(page, 'call-refusing')
      await page.keyboard.type('Not before the launch')
      await page.keyboard.press('Control+Enter')
      await said(page, 'Refused. The agent is told')
      await page.goto(`${app.url}/console/inbox/call/${id}`)
      await page.getByText(/^Refused by/).waitFor()
      expect((await bodyOf(item)).status).toBe('drafted')
      await eventually(
        async () => JSON.stringify(model.turns.at(-1)),
        (turn) => turn.includes('A person rejected this call: Not before the launch'),
      )
      await page.close()
    },
    LONG_MS,
  )

  test(
    'is not done once its draft has changed, and leaves with who made it needless',
    async () => {
      const { id, item } = await asks('Monday is the best day.')
      const page = await open(id)
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
      const edited = await app.send('PATCH', `items/${item}`, {
        key: lena.key,
        body: { body: 'Tuesday is the best day.', revision: 1 },
      })
      expect(edited.status).toBe(200)
      await page.keyboard.press('a')
      await said(page, 'This is no longer what was shown')
      await page.getByRole('alert').getByText('Lena <b>Lead</b>').waitFor()
      await page.locator('ins').getByText('Tuesday').waitFor()
      await expectAccessible(page, 'call-stale')
      expect((await bodyOf(item)).status).toBe('drafted')
      await app.send('POST', `items/${item}/approve`, { key: lena.key, body: {} })
      await said(page, 'Lena <b>Lead</b> made this needless just now')
      await said(page, 'Overtaken')
      await expectAccessible(page, 'call-overtaken')
      await page.close()
    },
    LONG_MS,
  )

  test(
    'is shown to a viewer, who sees that others decide',
    async () => {
      const { id } = await asks('Who decides?')
      const viewer = await signedInAs(app, app.tenantId, { name: 'Vic', role: 'viewer' })
      const other = await browserOf(browser, app, viewer)
      const page = await openTab(other, app, `/console/inbox/call/${id}`)
      const allow = page.getByRole('button', { name: 'Allow once' })
      await allow.waitFor()
      expect(await allow.getAttribute('aria-disabled')).toBe('true')
      expect(await allow.getAttribute('title')).toContain('can decide: ')
      await other.close()
    },
    LONG_MS,
  )

  const sentTexts = () => receiver.requests.map(({ body }) => JSON.parse(body).text as string)

  test(
    'goes out as the edited answer to a stranger, and what may have arrived is settled',
    async () => {
      receiver.answer = ({ body }) =>
        JSON.parse(body).text.includes(BROKEN) ? { raw: 'HTTP/1.1 2' } : {}
      const channel = await devChannel(app, { config: { url: receiver.url } })
      await postDev(app.url, channel, { text: `When do you open? ${HOSTILE}` })
      const [held] = await eventually(
        () => app.owner<{ id: string }[]>`select id from channel_reply where status = 'held'`,
        ({ length }) => length === 1,
      )
      const page = await openTab(context, app, `/console/inbox/reply/${held!.id}`)
      await said(page, 'ada wrote')
      await said(page, ANSWER)
      await expectAccessible(page, 'reply')
      await page.keyboard.press('e')
      await page.getByLabel('Your text, in Markdown').waitFor()
      await page.keyboard.press('Control+A')
      await page.keyboard.type('We open at *ten*.')
      await expectAccessible(page, 'reply-edited')
      await page.keyboard.press('Control+Enter')
      await said(page, 'Let go')
      await eventually(sentTexts, (texts) => texts.includes('We open at *ten*.'))
      expect(sentTexts()).not.toContain(ANSWER)

      const text = [BROKEN, 'second'].map((word) => `${word} ${'word '.repeat(4_000)}`.trim())
      const { id: connection, tenantId } = channel
      const doubtful = await reply(app, { tenantId, connection, text: text.join('\n\n') })
      await replyOnce(app, doubtful, 'unknown')
      await page.goto(`${app.url}/console/inbox/reply/${doubtful}`)
      const arrived = page.getByRole('button', { name: 'It arrived' })
      await arrived.waitFor()
      await expectAccessible(page, 'reply-unknown')
      await arrived.press('Enter')
      await said(page, 'Settled: it arrived')
      await replyOnce(app, doubtful, 'sent')
      await page.close()
    },
    LONG_MS,
  )

  test(
    'is discarded only after a question',
    async () => {
      const workspace = { app, tenantId: app.tenantId, key: '', session: '' }
      const id = await makeReply(workspace, { recipient: HOSTILE.slice(0, 300), text: HOSTILE })
      const page = await openTab(context, app, `/console/inbox/reply/${id}`)
      await page.getByRole('button', { name: 'Discard' }).waitFor()
      await page.keyboard.press('x')
      await page.getByRole('dialog', { name: 'Discard this reply?' }).waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).press('Enter')
      await replyOnce(app, id, 'discarded')
      await page.close()
    },
    LONG_MS,
  )

  test(
    'of its playbooks holds once a person has read what changes',
    async () => {
      const content = 'Write short sentences. Mention the price.'
      const made = await app.send('POST', '/api/v1/agent/playbooks', {
        key: lena.key,
        body: { slug: 'launch', name: `Launch ${HOSTILE.slice(0, 60)}`, content },
      })
      const { id } = made.body.playbook
      const added = await app.send('POST', `/api/v1/agent/playbooks/${id}/versions`, {
        key: lena.key,
        body: { content: content.replace('short', 'calm'), rationale: HOSTILE },
      })
      const { id: version } = added.body.version
      const page = await openTab(context, app, `/console/inbox/playbook/${version}`)
      await page.locator('ins').getByText('calm').waitFor()
      await expectAccessible(page, 'playbook')
      await page.keyboard.press('a')
      await said(page, 'Activated')
      const { body } = await app.send('GET', `/api/v1/agent/playbooks/${id}`, { key: lena.key })
      expect(body.playbook.content).toBe('Write calm sentences. Mention the price.')
      await page.close()
    },
    LONG_MS,
  )

  test('asked nothing elsewhere and complained of nothing', () => {
    expect(context.complaints.filter((one) => !one.includes('409 (Conflict)'))).toEqual([])
  })
})
