/**
 * The page of a dev channel in a real Chromium: a person signs in, writes with the keyboard alone,
 * and reads the answer.
 */
import { describe, expect, test } from 'bun:test'
import { devChannel } from '#test/support/channels/dev-posts'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { expectNoFlaws, tabTo } from '#test/support/http/look'
import { scriptedModel } from '#test/support/model/scripted-model'
import { joinAs, PASSWORD } from '#test/support/people'
import { use, useApp } from '#test/support/use'

const path = browserPath()

describe.skipIf(!path)('in a browser', () => {
  const app = useApp({ model: scriptedModel(() => ({ text: 'We open at **nine**.' })) })
  const chromium = use(openBrowser)

  test('a person talks to the agent through a dev channel, with the keyboard alone', async () => {
    const { id } = await devChannel(app, { displayName: 'Front desk', config: { reply: 'auto' } })
    const { email } = await joinAs(app)
    const page = await chromium.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.setDefaultTimeout(30_000)
    await page.goto(`${app.url}/channels/dev/${id}`)
    await tabTo(page, 'Email')
    await page.keyboard.type(email)
    await tabTo(page, 'Password')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Front desk' }).waitFor()
    await expectNoFlaws(page, 'dev-channel')
    await tabTo(page, 'Message')
    await page.keyboard.type('When do <you> open? 👩‍🚀')
    await tabTo(page, 'Send')
    await page.keyboard.press('Enter')
    await page.getByText('We open at **nine**.').waitFor()
    expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
      'You',
      'The agent',
    ])
    expect(await page.getByRole('main').innerText()).toContain('When do <you> open? 👩‍🚀')
    await expectNoFlaws(page, 'dev-channel-answered')
    await tabTo(page, 'Message')
    await page.keyboard.type('   ')
    await tabTo(page, 'Send')
    await page.keyboard.press('Enter')
    await page.getByText('Message must have 1 to 10,000 characters').first().waitFor()
    expect(await page.locator(':focus').getAttribute('role')).toBe('alert')
    await expectNoFlaws(page, 'dev-channel-wrong')
    // The browser itself reports the form that was refused.
    expect(complaints.filter((one) => !one.includes('400 (Bad Request)'))).toEqual([])
  })
})
