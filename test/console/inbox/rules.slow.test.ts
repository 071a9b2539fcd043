/** Rules for what the agent may do unasked, set in a real Chromium while deciding. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContext } from 'playwright-core'
import type { ConsoleState } from '#edge/console/bundle'
import { asKey, turn, waitingJob } from '#test/support/agent/agent'
import { changeTool } from '#test/support/agent/changed-tool'
import { builtConsole } from '#test/support/console/built'
import { browserOf, expectAccessible, openTab, type Watched } from '#test/support/console/tab'
import { eventually } from '#test/support/eventually'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedInAs } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const path = browserPath()
if (!path) console.warn('No Chromium here: nobody sets rules in the console.')

const LONG_MS = 180_000
const HOST = 'news.example'

const model = scriptedModel((_, answers) =>
  answers === 0 ? { calls: [['fetch_url', { url: `https://${HOST}/gates` }]] } : { text: 'Done.' },
)

const TOOL = {
  server: 'Port traffic',
  name: 'port_queue_at_gate',
  description: 'How many trucks wait at a gate, and for how long.',
  before: 'How many trucks wait at a gate.',
}

describe.skipIf(!path)('a rule', () => {
  let bundle: ConsoleState = 'building'
  const app = useApp({
    env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9' },
    overrides: { console: () => bundle, thinker: model },
  })
  const browser = use(openBrowser)
  let context: BrowserContext & Watched

  beforeAll(async () => {
    bundle = (await builtConsole()).bundle
    const olga = await signedInAs(app, app.tenantId, { name: 'Olga Owner', role: 'owner' })
    context = await browserOf(browser, app, olga)
  })

  const ruleOf = async (tool: string) =>
    (
      await app.owner<{ decision: string; definition_hash: string | null }[]>`select decision,
        definition_hash from agent_tool_rule where tool_name = ${tool}`
    )[0]

  test(
    'for a host is remembered with a call, if a person ticks it',
    async () => {
      const job = await turn(app, { content: 'What is new at the gates?', by: await asKey(app) })
      await waitingJob(app, job)
      const [call] = await app.owner<
        { id: string }[]
      >`select id from agent_approval where job_id = ${job}`
      const page = await openTab(context, app, `/console/inbox/call/${call!.id}`)
      const remember = page.getByLabel(/^Do not ask again/)
      await remember.waitFor()
      expect(await remember.isChecked()).toBe(false)
      await remember.check()
      await page.keyboard.press('a')
      await eventually(
        () => ruleOf(`fetch_url:${HOST}`),
        (rule) => rule?.decision === 'allow',
      )
      await page.close()
    },
    LONG_MS,
  )

  test(
    'for a tool that has changed shows what is new, and is set for the new definition',
    async () => {
      const id = await changeTool(app, app.tenantId, TOOL)
      const page = await openTab(context, app, `/console/inbox/tool_change/${id}`)
      await page.locator('ins').getByText('and for how long').waitFor()
      await expectAccessible(page, 'tool-change')
      await page.keyboard.press('a')
      const rule = await eventually(
        () => ruleOf(TOOL.name),
        (found) => found?.definition_hash !== 'a'.repeat(64),
      )
      expect(rule).toEqual({ decision: 'allow', definition_hash: 'b'.repeat(64) })
      await page.locator('.row').waitFor({ state: 'detached' })
      expect(context.complaints).toEqual([])
      await page.close()
    },
    LONG_MS,
  )
})
