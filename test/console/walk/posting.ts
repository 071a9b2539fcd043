/** Posts that go out at once, two of which fall into doubt, and how a person settles those. */
import { drawsOf, parseFaults } from '#port/network/sandbox/faults'
import { eventually } from '#test/support/eventually'
import { requireThat, succeeded, type World } from './world.ts'

/** Longer than the walk: no read of the timeline shows what has just been posted. */
const FAULTS = 'drop=0.3,500=0.3,slow=0.01,lag=1800s'
const WANTED = ['drop', '500', 'none', 'none', 'none', 'none']

/** The sandbox takes the first post without an answer, refuses the second, and takes the others. */
export const faults = (): string => {
  for (let seed = 0; ; seed++) {
    const spec = `${FAULTS};seed=${seed}`
    const next = drawsOf(parseFaults(spec))
    if (WANTED.every((fault) => next().fault === fault)) return spec
  }
}

const THERE = 'This one arrived, and nobody said so.'
const LOST = 'This one never arrived.'
const PLAIN = ['This one went out at once.', 'And so did this one, with an é and a 🌱.']
const ADDRESS = 'https://sandbox.example/posts/1'
/** A doubt is looked at three times within half a minute before a person is asked. */
const REVIEWED_WITHIN_MS = 120_000

/** A draft written elsewhere, which comes into the list by itself. */
export const writeDraft = async ({ send }: World, body: string): Promise<string> =>
  (await succeeded(send('POST', 'items', { body: { body } }))).item.id

export const itemOf = async ({ send }: World, id: string) =>
  (await succeeded(send('GET', `items/${id}`))).item

/** Opens the entry of the list that begins so, as soon as it is there. */
export const openRow = async ({ desk }: Pick<World, 'desk'>, words: string): Promise<void> => {
  await desk.sees(words)
  await desk.use(words)
  await desk.waitForPath(/^\/console\/inbox\/\w+\/./)
}

const postNow = async (world: World, text: string): Promise<string> => {
  const { desk } = world
  const id = await writeDraft(world, text)
  await openRow(world, text)
  await desk.read(`document.querySelector('textarea.post-text')?.value`, (is) => is === text)
  await desk.press('p')
  await desk.sees('Post now as @me?')
  await desk.use('Post now')
  return id
}

export interface Doubts {
  there: string
  lost: string
}

export const postSome = async (world: World): Promise<Doubts> => {
  const { desk, log, posted, pressed } = world
  await desk.goTo('inbox')
  const there = await postNow(world, THERE)
  const lost = await postNow(world, LOST)
  for (const text of PLAIN) {
    const id = await postNow(world, text)
    await eventually(
      () => itemOf(world, id),
      ({ status }) => status === 'posted',
    )
    pressed.set(id, { how: 'posted now', text })
    posted.push(text)
  }
  log(`${PLAIN.length} posts went out at once; of two nobody knows yet`)
  return { there, lost }
}

/** It comes into the list once the timeline has been read in vain. */
const open = async (world: World, id: string, text: string): Promise<void> => {
  const { desk } = world
  await eventually(
    () => itemOf(world, id),
    ({ review }) => review,
    REVIEWED_WITHIN_MS,
  )
  await desk.goTo('inbox')
  await openRow(world, text)
  await desk.sees('Nobody knows yet')
  await desk.sees('You must look')
}

export const settleDoubts = async (world: World, { there, lost }: Doubts): Promise<void> => {
  const { desk, log, posted, pressed } = world
  await open(world, there, THERE)
  await desk.press('y')
  await desk.sees('It is on the network')
  await desk.type(ADDRESS)
  await desk.press('Enter')
  const { url } = await eventually(
    () => itemOf(world, there),
    ({ status }) => status === 'posted',
  )
  requireThat(url === ADDRESS, `the address is the one that was typed, not ${url}`)
  pressed.set(there, { how: 'posted now', text: THERE })
  log('a doubt that a person found on the timeline is posted, with its address')
  await open(world, lost, LOST)
  await desk.press('p')
  await desk.sees('We read the timeline once more first')
  await desk.use('Read, then post')
  await eventually(
    () => itemOf(world, lost),
    ({ status }) => status === 'posted',
  )
  pressed.set(lost, { how: 'posted now', text: LOST })
  posted.push(THERE, LOST)
  log('a doubt that was nowhere was read for once more, and then posted')
}
