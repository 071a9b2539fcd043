/** What may have gone out elsewhere: a person says what became of it, in a real Chromium. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContext } from 'playwright-core'
import type { ConsoleState } from '#edge/console/bundle'
import { builtConsole } from '#test/support/console/built'
import { browserOf, expectAccessible, openTab, type Watched } from '#test/support/console/tab'
import { insertSandboxPost } from '#test/support/database/writes'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { signedInAs } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const path = browserPath()
if (!path) console.warn('No Chromium here: nobody decides on restored posts in the console.')

const LONG_MS = 240_000

describe.skipIf(!path)('what may have gone out elsewhere', () => {
  let bundle: ConsoleState = 'building'
  const app = useApp({ overrides: { console: () => bundle } })
  const browser = use(openBrowser)
  let context: BrowserContext & Watched
  let story: Story

  beforeAll(async () => {
    bundle = (await builtConsole()).bundle
    story = await newStory(app)
    const olga = await signedInAs(app, story.tenantId, { name: 'Olga Owner', role: 'owner' })
    context = await browserOf(browser, app, olga)
  })

  const marked = async (): Promise<string> => {
    const id = await story.scheduled(7_200_000)
    await app.owner`update item set restored_as_of = now() - interval '1 hour' where id = ${id}`
    return id
  }

  test(
    'each of them is on top of the list, and leaves it with what a person says',
    async () => {
      const [there, kept, dropped] = [await marked(), await marked(), await marked()]
      const page = await openTab(context, app, `/console/inbox/restored/${there}`)
      await page.getByRole('heading', { name: 'It may be on the network already' }).waitFor()
      await expectAccessible(page, 'restored')
      await page.getByRole('button', { name: 'It is there' }).first().click()
      await page.getByLabel('Its address').fill('https://network.example/posts/9')
      await page.keyboard.press('Enter')
      expect(await story.settled(there, 'posted')).toMatchObject({
        url: 'https://network.example/posts/9',
      })
      await page.goto(`${app.url}/console/inbox/restored/${kept}`)
      await page.getByRole('button', { name: /^Keep/ }).click()
      await page.getByText('It goes out at').first().waitFor()
      await page.goto(`${app.url}/console/inbox/restored/${dropped}`)
      await page.getByRole('button', { name: 'Back to a draft' }).click()
      await story.settled(dropped, 'drafted')
      const { items } = (await story.send('GET', 'items?restored=true')).body
      expect(items).toEqual([])
      expect(await story.item(kept)).toMatchObject({ status: 'approved' })
      const posts = await story.posts()
      for (const id of [there, kept, dropped]) expect(posts[textOf(id)]).toBeUndefined()
      await page.close()
    },
    LONG_MS,
  )

  test(
    'the account is looked at from here, and a post that stands there is taken for it',
    async () => {
      const id = await marked()
      await insertSandboxPost(app, story.account, 'Something else')
      const page = await openTab(context, app, `/console/inbox/restored/${id}`)
      await page.getByRole('button', { name: 'Look at the account' }).click()
      await page.getByText('It is not there.').waitFor()
      await insertSandboxPost(app, story.account, textOf(id))
      await page.getByRole('button', { name: 'Look again' }).click()
      await page.getByText('It is there.').waitFor()
      const posts = page.getByRole('list', { name: 'Posts on the timeline' }).getByRole('listitem')
      expect(await posts.count()).toBe(2)
      await expectAccessible(page, 'restored, with posts')
      const there = posts.filter({ hasText: 'may be this one' })
      expect(await there.locator('blockquote').textContent()).toBe(textOf(id))
      await there.getByRole('button', { name: 'This is it' }).click()
      await page.getByLabel('Its address').fill('https://network.example/posts/10')
      await page.keyboard.press('Enter')
      expect(await story.settled(id, 'posted')).toMatchObject({
        url: 'https://network.example/posts/10',
      })
      await page.close()
    },
    LONG_MS,
  )
})
