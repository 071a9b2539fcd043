/** The settings in a real Chromium, by keys alone, and what they show put to use. */
import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import type { ConsoleState } from '#edge/console/bundle'
import { type DevChannel, devChannel, postDev } from '#test/support/channels/dev-posts'
import { builtConsole } from '#test/support/console/built'
import { press, tabTo } from '#test/support/console/keyboard'
import { browserOf, expectAccessible, openTab, type Watched } from '#test/support/console/tab'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { idOf } from '#test/support/http/hooks'
import { openReceiver, type Received } from '#test/support/http/receiver'
import { connectMcp } from '#test/support/mcp/mcp'
import { freePort } from '#test/support/processes/server'
import { signedInAs } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const path = browserPath()
if (!path) console.warn('No Chromium here: nobody looks at the settings.')

const LONG_MS = 180_000

const TAG = '<img src=x onerror=alert(1)>javascript:alert(1)'
/** Turns the line around, looks like a tag, and has no place to break. */
const HOSTILE = `\u202e${TAG}${'W'.repeat(400)}`

const textOf = (page: Page, title: string): Promise<string> =>
  page
    .locator('.copied', { has: page.getByRole('heading', { name: title, exact: true }) })
    .locator('pre')
    .innerText()

/** Everything that this browser keeps of the page. */
const keptBy = (page: Page): Promise<string> =>
  page.evaluate<string>(
    'document.body.innerHTML + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage })',
  )

const wideAt320 = async (page: Page): Promise<number> => {
  await page.setViewportSize({ width: 320, height: 800 })
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
  await page.setViewportSize({ width: 1280, height: 800 })
  return wide
}

const signedBy = (secret: string, { headers, body }: Received): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

describe.skipIf(!path)('the settings', () => {
  let bundle: ConsoleState = 'building'
  const receiver = use(openReceiver)
  // What the page shows is to be used as it stands, so that the address has to be the server's.
  let port: number
  beforeAll(async () => {
    port = await freePort()
  })
  const app = useApp(() => ({
    overrides: { console: () => bundle },
    env: {
      EGRESS_ALLOW: `127.0.0.1:${receiver.port}`,
      PORT: String(port),
      PUBLIC_URL: `http://localhost:${port}`,
    },
  }))
  const browser = use(openBrowser)
  let context: BrowserContext & Watched
  let channel: DevChannel

  beforeAll(async () => {
    bundle = (await builtConsole()).bundle
    const olga = await signedInAs(app, app.tenantId, { name: HOSTILE, role: 'owner' })
    context = await browserOf(browser, app, olga)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    channel = await devChannel(app)
    // No operation takes such names; the page has to bear them all the same.
    const { owner, tenantId } = app
    await owner`update channel_connection set display_name = ${HOSTILE}, last_error = ${HOSTILE}
      where tenant_id = ${tenantId}`
    await owner`update api_key set name = ${HOSTILE} where tenant_id = ${tenantId}`
  })
  afterEach(() => {
    // A browser reports each answer that is an error: here the one to a refused address.
    const isOurs = (complaint: string) => !complaint.includes('400 (Bad Request)')
    expect(context.complaints.filter(isOurs)).toEqual([])
  })

  const goTo = async (page: Page, name: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill(`settings ${name}`)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 2, name, exact: false }).waitFor()
  }

  const makeKey = async (page: Page): Promise<string> => {
    await press(page, 'Make a key')
    await page.keyboard.type(TAG)
    await press(page, 'Change', 'Space')
    await press(page, 'Make the key')
    await page.getByRole('heading', { name: 'Copy it now' }).waitFor()
    const key = await textOf(page, 'Key')
    await press(page, 'Copy: MCP configuration')
    await page.getByText('Copied: MCP configuration').last().waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(
      await textOf(page, 'MCP configuration'),
    )
    await expectAccessible(page, 'settings-key-made')
    return key
  }

  const tryKey = async (page: Page) => {
    const { url, headers } = JSON.parse(await textOf(page, 'MCP configuration')).mcpServers.tendril
    const { origin, search } = new URL(url)
    await using mcp = await connectMcp(origin, {
      key: headers.Authorization.replace('Bearer ', ''),
      query: search,
    })
    expect(await mcp.toolNames()).toContain('growth_approve_item')
    const curl = Bun.spawn(['bash', '-c', `${await textOf(page, 'curl')} -sS --fail`])
    expect(JSON.parse(await new Response(curl.stdout).text())).toHaveProperty('overview')
  }

  /** Viewers see where events go, and why they cannot send one. */
  const lookAsViewer = async () => {
    const { length } = receiver.requests
    const vera = await signedInAs(app, app.tenantId, { name: 'Vera Viewer', role: 'viewer' })
    const hers = await browserOf(browser, app, vera)
    const page = await openTab(hers, app, '/console/settings/webhook')
    await page.getByText('Only owners can set it').waitFor()
    await press(page, 'Send a test')
    await page.getByText('Only owners may do this.').last().waitFor()
    expect(await page.content()).not.toContain(receiver.url)
    await hers.close()
    expect(receiver.requests).toHaveLength(length)
    expect(hers.complaints).toEqual([])
  }

  test(
    'make a key that connects a client, and end it',
    async () => {
      const page = await openTab(context, app, '/console/settings')
      const key = await makeKey(page)
      await tryKey(page)
      await press(page, 'I have copied it')
      expect(await keptBy(page)).not.toContain(key)
      await press(page, 'Revoke')
      await page.getByRole('dialog', { name: 'Revoke this key?' }).waitFor()
      await expectAccessible(page, 'settings-key-revoke')
      expect((await app.send('GET', 'overview', { key })).status).toBe(200)
      await press(page, 'Revoke')
      await page.getByText('Revoked', { exact: true }).first().waitFor()
      expect((await app.send('GET', 'overview', { key })).status).toBe(401)
      expect(await page.evaluate<string>('document.activeElement.id')).toStartWith('key-')
      expect(await wideAt320(page)).toBe(320)
      await page.close()
    },
    LONG_MS,
  )

  const setWebhook = async (page: Page): Promise<string> => {
    await tabTo(page, 'Address')
    await page.keyboard.type('https://192.168.1.20/hook')
    await page.keyboard.press('Enter')
    await page.locator('.fault').waitFor()
    await page.keyboard.press('Control+a')
    await page.keyboard.type(receiver.url)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'The signing secret' }).waitFor()
    return textOf(page, 'Secret')
  }

  /** Sends a test; resolves with what the receiver got, in all. */
  const sendTest = async (page: Page, count: number): Promise<Received> => {
    await press(page, 'Send a test')
    const all = await receiver.received(count)
    await page.locator('.test-outcome').getByText('Delivered').waitFor()
    return all.at(-1)!
  }

  test(
    'set the webhook, test, replay and rotate it',
    async () => {
      const page = await openTab(context, app, '/console/settings')
      await goTo(page, 'webhook')
      const first = await setWebhook(page)
      const tried = await sendTest(page, 1)
      expect(signedBy(first, tried)).toBe(true)
      await page.locator('.cards').getByText('Delivered').waitFor()
      await press(page, 'Replay webhook.test')
      const [, again] = await receiver.received(2)
      expect([idOf(again!), again!.body]).toEqual([idOf(tried), tried.body])
      await page.keyboard.press('Home')
      await press(page, 'Rotate the secret', 'Enter')
      await press(page, 'Rotate')
      await page.getByText('signed with both secrets').waitFor()
      const second = await textOf(page, 'Secret')
      const both = await sendTest(page, 3)
      expect([first, second].map((secret) => signedBy(secret, both))).toEqual([true, true])
      await expectAccessible(page, 'settings-webhook')
      // As a browser does that keeps the page for its Back button.
      await page.evaluate("dispatchEvent(new Event('pagehide'))")
      await page.getByRole('heading', { name: 'The signing secret' }).waitFor({ state: 'detached' })
      await goTo(page, 'keys')
      const kept = await keptBy(page)
      for (const secret of [first, second]) expect(kept).not.toContain(secret)
      await lookAsViewer()
      expect(await wideAt320(page)).toBe(320)
      await page.close()
    },
    LONG_MS,
  )

  test(
    'link a sender by the code of its channel, and end the link',
    async () => {
      const page = await openTab(context, app, '/console/settings')
      await goTo(page, 'channels')
      await press(page, 'Link your sender')
      await page.getByRole('heading', { name: 'Your code' }).waitFor()
      const code = await textOf(page, 'Code')
      await expectAccessible(page, 'settings-code')
      expect(
        await postDev(app.url, channel, { text: code, name: HOSTILE.slice(0, 200) }),
      ).toHaveProperty('status', 200)
      await page.getByText('Linked to you').last().waitFor()
      await page.getByText('is you, since').waitFor()
      expect(await keptBy(page)).not.toContain(code)
      expect(await wideAt320(page)).toBe(320)
      await press(page, 'End the link')
      await page.getByRole('dialog', { name: 'End this link?' }).waitFor()
      await press(page, 'End the link')
      await page.getByText('Nobody is linked here').waitFor()
      await page.close()
    },
    LONG_MS,
  )
})
