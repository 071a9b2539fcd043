/**
 * A day's work in the console, by keyboard alone: the single binary, started in an empty folder,
 * and a real Chromium. `npm run walk:console`; with `-- --built`, with the binary that is in
 * `dist/` already.
 */
import { parseArgs } from 'node:util'
import { client } from '#test/support/app'
import { watchedIn } from '#test/support/console/tab'
import { eventually } from '#test/support/eventually'
import { temporaryFolder } from '#test/support/folder'
import { browserPath, launchBrowser } from '#test/support/http/browser'
import { openReceiver } from '#test/support/http/receiver'
import { createFakeOpenAi } from '#test/support/model/fake-openai'
import { allowCall, answer, connectChannel, sendReply } from './agent.ts'
import { type Binary, buildBinary, placeBinary } from './binary.ts'
import { sitDown } from './desk.ts'
import { decideWhileFailing, restart } from './dying.ts'
import { beginWith, firstStartOf } from './first-start.ts'
import { nextPerson } from './next-person.ts'
import { faults, postSome, settleDoubts } from './posting.ts'
import { linkSender, makeKey, setWebhook } from './settings.ts'
import { decideTwenty, differences, sha256 } from './twenty.ts'
import { requireThat, succeeded, type World } from './world.ts'

const WITHIN_MS = 12 * 60_000

const begun = performance.now()
const log = (line: string): void =>
  console.log(`[${((performance.now() - begun) / 1_000).toFixed(1).padStart(6)} s] ${line}`)

const newWorld = async (binary: Binary, stack: AsyncDisposableStack): Promise<World> => {
  const path = browserPath()
  if (!path) throw new Error('there is no Chromium: set CHROMIUM to its path')
  const browser = await launchBrowser(path)
  stack.defer(() => browser.close())
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: binary.url })
  const receiver = stack.use(await openReceiver())
  const model = stack.use(await createFakeOpenAi())
  model.converseOtherwise(answer)
  const { key } = firstStartOf(binary.printed())
  return {
    binary,
    send: client(binary.url, key) as World['send'],
    complaints: watchedIn(context, binary.url),
    desk: await sitDown(context),
    receiver,
    env: { OPENAI_BASE_URL: model.url, EGRESS_ALLOW: `127.0.0.1:${receiver.port}` },
    pressed: new Map(),
    posted: [],
    log,
  }
}

/** Our posts on the sandbox are what was approved, and nothing else. */
const judgeTimeline = async ({ send, posted }: World): Promise<void> => {
  const { posts } = await succeeded<{ posts: { own: boolean; text: string }[] }>(
    send('GET', 'sandbox/timeline?limit=100'),
  )
  const ours = posts.filter(({ own }) => own).map(({ text }) => text)
  requireThat(
    Bun.deepEquals(ours.map(sha256).sort(), posted.map(sha256).sort()),
    `the sandbox has ${JSON.stringify(posted)}, not ${JSON.stringify(ours)}`,
  )
  log(`the sandbox has the ${posted.length} approved texts, by hash, each once`)
}

const judge = async (world: World): Promise<void> => {
  const wrong = await differences(world)
  requireThat(wrong.length === 0, wrong.join('\n'))
  log(`${world.pressed.size} decisions are as they were pressed`)
  await judgeTimeline(world)
  const { complaints } = world
  requireThat(complaints.length === 0, `nothing to complain of, not\n${complaints.join('\n')}`)
  log('0 console messages, 0 requests elsewhere')
}

const walk = async (world: World): Promise<void> => {
  const { link, workspace } = firstStartOf(world.binary.printed())
  await beginWith(world, link)
  await decideTwenty(world)
  await restart(world, { ...world.env, SANDBOX_FAULTS: faults() })
  log('SIGTERM ended the server, and it began again with a model, and a network that fails')
  const doubts = await postSome(world)
  const channel = await connectChannel(world)
  await allowCall(world)
  await sendReply(world, channel)
  await makeKey(world)
  await setWebhook(world)
  await linkSender(world, channel)
  await settleDoubts(world, doubts)
  const done = (await world.desk.heard()).filter((said) => said.trim() === 'Done')
  requireThat(done.length === 1, `the outcome of a call is said once, not ${done.length} times`)
  await decideWhileFailing(world)
  await nextPerson(world, workspace)
  await judge(world)
}

const run = async (): Promise<void> => {
  const { values } = parseArgs({ options: { built: { type: 'boolean', default: false } } })
  const program = values.built ? `${process.cwd()}/dist/tendril` : await buildBinary()
  log(`the binary: ${program}`)
  await using folder = await temporaryFolder()
  await using binary = await placeBinary(program, folder.path)
  await using stack = new AsyncDisposableStack()
  await binary.start()
  log('the first start printed a key and a link')
  const world = await newWorld(binary, stack)
  try {
    await walk(world)
  } catch (cause) {
    const picture = `${process.env.SCREENSHOTS ?? '/tmp'}/walk-failed.png`
    await world.desk.page.screenshot({ path: picture })
    log(`${picture} shows where it ended; before that the page said:`)
    for (const line of await world.desk.heard()) log(`  ${line}`)
    throw cause
  }
  await stack.disposeAsync()
  const code = await binary.stop()
  requireThat(code === 0, `SIGTERM ended it with 0, not ${code}`)
  await eventually(
    () => binary.hasPostgres(),
    (has) => !has,
  )
  log('SIGTERM ended the server and its Postgres')
}

setTimeout(() => {
  console.error(`walk:console: not done within ${WITHIN_MS / 60_000} minutes`)
  process.exit(1)
}, WITHIN_MS).unref()
await run().then(
  () => log('walk:console: ok'),
  (cause) => {
    console.error(cause)
    console.log('walk:console: BROKEN')
    process.exit(1)
  },
)
process.exit(0)
