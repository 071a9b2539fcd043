/** Doubts, refused posts and engagements in the inbox, decided in a real Chromium by keys alone. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContext } from 'playwright-core'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import type { ConsoleState } from '#edge/console/bundle'
import { xSelfServe } from '#port/network/x-rules'
import { builtConsole } from '#test/support/console/built'
import { browserOf, expectAccessible, openTab, type Watched } from '#test/support/console/tab'
import { eventually } from '#test/support/eventually'
import { answersTo, draftedEngagement, engagementOf } from '#test/support/growth/engagements'
import { putInReview } from '#test/support/growth/post-again'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { lostRequest, type Unreliable, unreliable } from '#test/support/growth/unreliable'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { signedInAs } from '#test/support/session'
import { use, useApp } from '#test/support/use'
import { numbers } from '../../faults/numbers.ts'
import { approvableTexts } from '../texts/approvable.ts'
import { walkTexts } from '../texts/walk.ts'

const path = browserPath()
if (!path) console.warn('No Chromium here: nobody settles doubts in the console.')

const LONG_MS = 240_000
/** Doubts are in review at once. */
const times: SendTimes = { ...sendTimes, settleMs: 20, windowMs: 60 }
const HOSTILE = `<img src=x onerror=alert(1)> \u202egnp.exe ${'x'.repeat(300)}`

describe.skipIf(!path)('what went wrong, or goes to others', () => {
  let bundle: ConsoleState = 'building'
  const app = useApp({ overrides: { console: () => bundle, times } })
  const browser = use(openBrowser)
  let context: BrowserContext & Watched
  let network: Unreliable
  let story: Story

  const open = (kind: string, id: string) => openTab(context, app, `/console/inbox/${kind}/${id}`)

  beforeAll(async () => {
    bundle = (await builtConsole()).bundle
    network = unreliable(app)
    story = await newStory(app)
    const olga = await signedInAs(app, story.tenantId, { name: 'Olga Owner', role: 'owner' })
    context = await browserOf(browser, app, olga)
  })

  test(
    'a doubt shows what was sent beside what the timeline showed, and is settled by a person',
    async () => {
      const id = await story.approved()
      const shown = {
        externalId: 'elsewhere',
        url: 'https://network.example/posts/7',
        createdAt: new Date(),
        text: HOSTILE,
        truncated: false,
      }
      network.view = (timeline) => ({ ...timeline, posts: [shown] })
      await putInReview(app, story, { network, id, how: lostRequest })
      const page = await open('doubt', id)
      await page.getByRole('heading', { name: 'Nobody knows yet' }).waitFor()
      await page.getByText('gnp.exe').waitFor()
      expect(await page.getByText('Read', { exact: false }).count()).toBeGreaterThan(0)
      await expectAccessible(page, 'doubt')
      await page.keyboard.press('y')
      await page.getByLabel('Its address').fill('nowhere')
      await page.keyboard.press('Enter')
      await expectAccessible(page, 'doubt-address')
      await page.getByLabel('Its address').fill(shown.url)
      await page.keyboard.press('Enter')
      const item = await story.settled(id, 'posted')
      expect([item.url, (await story.posts())[textOf(id)]]).toEqual([shown.url, undefined])
      await page.close()
    },
    LONG_MS,
  )

  test(
    'a doubt is sent again only after the timeline was read once more, and its copy is a draft',
    async () => {
      network.view = (timeline) => timeline
      const id = await story.approved()
      await putInReview(app, story, { network, id, how: lostRequest })
      const page = await open('doubt', id)
      await page.getByRole('heading', { name: 'Nobody knows yet' }).waitFor()
      await page.keyboard.press('w')
      await page.waitForURL('**/console/inbox/draft/*')
      const copy = page.url().split('/').at(-1)!
      expect([(await story.item(copy)).body, (await story.item(id)).status]).toEqual([
        textOf(id),
        'publish_unconfirmed',
      ])
      await page.goto(`${app.url}/console/inbox/doubt/${id}`)
      await page.getByRole('heading', { name: 'Nobody knows yet' }).waitFor()
      await page.keyboard.press('p')
      await page.getByText('We read the timeline once more first.', { exact: false }).waitFor()
      await page.getByRole('button', { name: 'Read, then post' }).press('Enter')
      await story.settled(id, 'posted')
      expect((await story.posts())[textOf(id)]).toBe(1)
      await page.close()
    },
    LONG_MS,
  )

  test(
    'what the network refused shows its words, and is edited again or scheduled',
    async () => {
      const id = await story.approved()
      network.answers.set(textOf(id), async () => ({ kind: 'refused', reason: HOSTILE }))
      await story.postNow(id)
      await story.settled(id, 'publish_failed')
      const page = await open('refused', id)
      await page.getByRole('heading', { name: 'The network refused it' }).waitFor()
      await expectAccessible(page, 'refused')
      await page.keyboard.press('e')
      await page.waitForURL(`**/console/inbox/draft/${id}`)
      expect((await story.item(id)).status).toBe('drafted')
      await page.close()
    },
    LONG_MS,
  )

  test(
    'a post goes out as it was on the screen, whatever it consists of',
    async () => {
      const worst = approvableTexts(80, numbers(1)).slice(-8)
      expect(await walkTexts(app, browser, worst)).toEqual([])
    },
    LONG_MS,
  )

  test(
    'a reply is edited beside another person, approved and sent in one step, once it has been asked',
    async () => {
      const { id, post } = await draftedEngagement(app, story)
      const page = await open('engagement', id)
      await page.getByLabel('The reply').waitFor()
      await expectAccessible(page, 'engagement')
      await page.keyboard.press('e')
      await page.keyboard.type(' Always.')
      await story.send('PATCH', `engagements/${id}`, { body: { body: 'We write first.' } })
      const both = page.getByRole('alert', { name: 'Two texts' })
      await both.getByText('We write first.', { exact: true }).waitFor()
      await both.getByRole('heading', { name: /^test wrote another text at/ }).waitFor()
      await expectAccessible(page, 'engagement-two-texts')
      await both.getByRole('button', { name: 'Go on with yours' }).press('Enter')
      await both.waitFor({ state: 'detached' })
      await page.keyboard.press('s')
      await page.getByRole('dialog').waitFor()
      await expectAccessible(page, 'engagement-asks')
      await page.getByRole('button', { name: 'Send', exact: true }).press('Enter')
      await eventually(
        () => engagementOf(story, id),
        ({ status }) => status === 'executed',
      )
      expect(await answersTo(app, post)).toEqual(['We call first. Always.'])
      expect(context.complaints).toEqual([])
      await page.close()
    },
    LONG_MS,
  )

  test(
    'what the network does not let programs do is done by hand, and marked so',
    async () => {
      const { id, post } = await draftedEngagement(app, story)
      const { sandbox } = app.workplace
      const { preflight } = sandbox
      sandbox.preflight = xSelfServe
      const page = await open('engagement', id)
      await page.getByText('This cannot be sent from here.').waitFor()
      const there = page.getByRole('link', { name: 'Open on X' })
      expect(await there.getAttribute('href')).toBe(
        `https://x.com/intent/tweet?in_reply_to=${post}`,
      )
      const send = page.getByRole('button', { name: 'Approve and send' })
      expect(await send.getAttribute('aria-disabled')).toBe('true')
      await page.getByText('What the network allows').click()
      await expectAccessible(page, 'engagement-by-hand')
      await page.keyboard.press('d')
      await page.getByLabel('Its address').fill('https://x.com/us/status/7')
      await page.keyboard.press('Enter')
      const done = await eventually(
        () => engagementOf(story, id),
        ({ status }) => status === 'executed',
      )
      sandbox.preflight = preflight
      expect([done.url, await answersTo(app, post)]).toEqual(['https://x.com/us/status/7', []])
      await page.close()
    },
    LONG_MS,
  )
})
