/**
 * The pages in a real Chromium against a real server, from the link of the first start to an
 * approved device.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { eventually } from '#test/support/eventually'
import { type TemporaryFolder, temporaryFolder } from '#test/support/folder'
import { browserPath, openBrowser, type TestBrowser } from '#test/support/http/browser'
import { expectNoFlaws, tabTo } from '#test/support/http/look'
import { GRANT_TYPE, PASSWORD } from '#test/support/people'
import {
  type Deployment,
  newDeployment,
  runAdmin,
  type ServerProcess,
  startServer,
} from '#test/support/processes/server'
import { use } from '#test/support/use'

const path = browserPath()
if (!path)
  console.warn(
    'No Chromium here (CHROMIUM is not set, and none is installed in a usual place): tests in a real browser are skipped.',
  )
const EMAIL = 'owner@example.com'

let deployment: Deployment
let server: ServerProcess
let browser: TestBrowser
let context: BrowserContext
let page: Page
let folder: TemporaryFolder
let complaints: string[]
/** The address that the browser uses. */
let origin: string

/** The link that the first start prints once it listens. */
const linkOf = async ({ output }: ServerProcess): Promise<string> =>
  (await eventually(
    () => /choose a password: (\S+)/.exec(output())?.[1],
    (link) => link !== undefined,
  ))!
const form = (name: string, fields: Record<string, string>) =>
  fetch(`${server.url}/api/v1/app/device/${name}`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'tendril-cli', ...fields }),
  })
const newCode = async (device_name = 'laptop') =>
  (await form('code', { device_name })).json() as Promise<Record<string, string>>
const tokenFor = async (device_code: string) =>
  (await form('token', { grant_type: GRANT_TYPE, device_code })).json() as Promise<
    Record<string, string>
  >

const openPage = async () => {
  context = await browser.newContext()
  page = await context.newPage()
  page.on(
    'console',
    (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()),
  )
  page.setDefaultTimeout(30_000)
}

/** With the keyboard alone. */
const enter = () => page.keyboard.press('Enter')
const press = async (name: string): Promise<void> => {
  await tabTo(page, name)
  await enter()
}
const typeInto = async (label: string, text: string): Promise<void> => {
  await tabTo(page, label)
  await page.keyboard.type(text)
}

/** Pages of another site, by path. */
const serveElsewhere = (pages: Record<string, string>) =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      new Response(pages[new URL(url).pathname] ?? '', {
        headers: { 'content-type': 'text/html' },
      }),
  })

describe.skipIf(!path)('in a browser', () => {
  browser = use(openBrowser)
  beforeAll(async () => {
    deployment = await newDeployment()
    folder = await temporaryFolder()
    server = await startServer(deployment.server)
    complaints = []
    await openPage()
    const link = await linkOf(server)
    origin = new URL(link).origin
    await page.goto(link)
    await expectNoFlaws(page, 'join')
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Name').fill('Olga Owner')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByText('Olga Owner').waitFor()
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    await deployment?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
  })

  test('the link of the first start makes an owner, who is signed in and sees the home page', async () => {
    complaints.length = 0
    await page.goto(`${origin}/`)
    await expectNoFlaws(page, 'home')
    expect(await page.getByRole('main').innerText()).toContain('Owner: can do everything')
    expect(await page.getByRole('main').innerText()).toContain('/api/v1/mcp')
    expect(complaints).toEqual([])
  })

  test('the command line logs in, and a person approves it with the keyboard alone', async () => {
    const env = { PATH: process.env.PATH ?? '', HOME: folder.path }
    const cli = (...args: string[]) =>
      Bun.spawn([process.execPath, 'src/cli/bin.ts', ...args], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    const login = cli('login', '--api-url', server.url, '--no-browser')
    let printed = ''
    for await (const text of login.stderr.pipeThrough(new TextDecoderStream())) {
      printed += text
      if (printed.includes('Waiting for')) break
    }
    const code = /[B-Z]{4}-[B-Z]{4}/.exec(printed)![0]
    const address = /http\S+\/device/.exec(printed)![0]
    await page.goto(address)
    await expectNoFlaws(page, 'device-entry')
    await typeInto('Code', code.toLowerCase().replace('-', ' '))
    await enter()
    await page.getByText(code, { exact: true }).waitFor()
    await expectNoFlaws(page, 'device-confirm')
    await press('Approve')
    await page.getByRole('heading', { name: 'Device approved' }).waitFor()
    await expectNoFlaws(page, 'device-done')
    expect(await login.exited).toBe(0)
    const overview = cli('overview', 'get', '--json')
    expect([await overview.exited, JSON.parse(await new Response(overview.stdout).text())]).toEqual(
      [0, expect.any(Object)],
    )
    const logout = cli('logout')
    expect(await logout.exited).toBe(0)
  })

  test('a click denies a device, on a page whose accessibility tree names every element', async () => {
    const { device_code, verification_uri_complete } = await newCode('<b>evil</b> machine')
    await page.goto(verification_uri_complete!)
    expect(await page.getByRole('main').innerText()).toContain('<b>evil</b> machine')
    const tree = await page.locator('body').ariaSnapshot()
    for (const line of [
      'banner',
      'main',
      'heading "Approve this device?" [level=1]',
      'button "Deny"',
      'button "Approve"',
    ])
      expect(tree).toContain(line)
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('heading', { name: 'Device denied' }).waitFor()
    expect((await tokenFor(device_code!)).error).toBe('access_denied')
    await page.reload()
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Device denied')
  })

  test('a wrong code is reported at its field, and the message has the focus', async () => {
    await page.goto(`${origin}/device?code=BCDF-GHJK`)
    await expectNoFlaws(page, 'device-wrong')
    expect(await page.locator(':focus').getAttribute('role')).toBe('alert')
    await press(
      'No device is waiting with this code. Check for typing errors. The code may also have been used already, or have expired.',
    )
    await page.keyboard.type('X')
    expect(await page.getByLabel('Code').inputValue()).toContain('X')
    expect(await page.getByLabel('Code').getAttribute('aria-invalid')).toBe('true')
  })

  test('signing out and in again works with the keyboard alone, and returns to the code', async () => {
    await page.goto(`${origin}/`)
    await press('Sign out')
    await page.getByRole('link', { name: 'Sign in' }).waitFor()
    await expectNoFlaws(page, 'home-signed-out')
    const { user_code, verification_uri_complete } = await newCode()
    await page.goto(verification_uri_complete!)
    await expectNoFlaws(page, 'sign-in')
    await typeInto('Email', EMAIL)
    await typeInto('Password', 'wrong')
    await enter()
    await page.getByText('The email or the password is wrong.').waitFor()
    await expectNoFlaws(page, 'sign-in-wrong')
    await page.getByLabel('Password').fill(PASSWORD)
    await enter()
    await page.getByText(user_code!, { exact: true }).waitFor()
  })

  test("an operator's reset link sets a new password, with the keyboard alone", async () => {
    const atOrigin = { ...deployment.server, env: { PORT: new URL(origin).port } }
    const { json: printed } = await runAdmin(atOrigin, 'person', 'reset', '--email', EMAIL)
    expect(printed.email_status).toBe('unverified')
    await page.goto(printed.url)
    await expectNoFlaws(page, 'reset')
    await typeInto('New password', 'password123')
    await enter()
    await page.getByText('is a common password').first().waitFor()
    await expectNoFlaws(page, 'reset-wrong')
    expect(await page.locator(':focus').getAttribute('role')).toBe('alert')
    await typeInto('New password', PASSWORD)
    await enter()
    await page.getByRole('heading', { name: 'Password changed' }).waitFor()
    await expectNoFlaws(page, 'reset-done')
    expect(await page.locator('body').ariaSnapshot()).toContain(`link "Sign in as ${EMAIL}"`)
    await page.goto(printed.url)
    expect(await page.getByRole('alert').innerText()).toContain('This link is no longer valid')
    await page.goto(`${origin}/sign-in`)
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Verified', { exact: true }).waitFor()
  })

  test('no page of another origin can frame our pages, sign anyone in or decide on a device', async () => {
    const { device_code, user_code } = await newCode()
    const fields = {
      '/sign-in': { email: EMAIL, password: PASSWORD },
      '/device': { code: user_code, decision: 'approve' },
    }
    const formTo = (to: keyof typeof fields) =>
      `<form method="post" action="${origin}${to}">${Object.entries(fields[to]).map(([name, value]) => `<input name="${name}" value="${value}">`)}<button>Win</button></form>`
    await using elsewhere = serveElsewhere({
      '/frame': `<iframe src="${origin}/device?code=${user_code}"></iframe>`,
      '/sign-in': formTo('/sign-in'),
      '/device': formTo('/device'),
    })
    const foreign = `http://127.0.0.1:${elsewhere.port}`
    complaints.length = 0
    await page.goto(`${foreign}/frame`)
    expect(complaints.find((one) => one.includes('frame-ancestors'))).toContain('has been blocked')
    expect(await page.frameLocator('iframe').getByText(user_code!).count()).toBe(0)
    for (const place of ['/sign-in', '/device']) {
      await page.goto(`${foreign}${place}`)
      await page.getByRole('button', { name: 'Win' }).click()
      await page.getByRole('heading', { name: 'Something went wrong' }).waitFor()
    }
    expect((await tokenFor(device_code!)).error).toBe('authorization_pending')
    await page.goto(`${foreign}/device`)
    await page.setContent(`<a href="${origin}/device?code=${user_code}">go</a>`)
    await page.getByRole('link').click()
    await page.getByText(user_code!, { exact: true }).waitFor()
  })

  test('a session continues after its access token has expired, also when the link comes from another site', async () => {
    const expireAccess = () =>
      context.addCookies([
        {
          name: 'tendril',
          value: 'too.old.token',
          domain: new URL(origin).hostname,
          path: '/',
          httpOnly: true,
        },
      ])
    await expireAccess()
    await page.goto(`${origin}/`)
    await page.getByText('Olga Owner').waitFor()
    await expireAccess()
    await using elsewhere = serveElsewhere({ '/': `<a href="${origin}/device">go</a>` })
    await page.goto(`http://127.0.0.1:${elsewhere.port}/`)
    await page.getByRole('link').click()
    await page.getByLabel('Code').waitFor()
  })
})
