/** Twenty drafts decided within a minute, and one decision of each kind taken back. */
import { createHash } from 'node:crypto'
import { eventually } from '#test/support/eventually'
import { type Pressed, requireThat, succeeded, type World } from './world.ts'

const DECIDED = 20
const WITHIN_MS = 60_000

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** What the pane shows of the draft; undefined while it is on its way. */
const SHOWN = `(() => {
  const text = document.querySelector('textarea.post-text')
  const foot = document.querySelector('.pane-foot')
  const slot = foot && [...foot.querySelectorAll('button')].find((one) => /^Approve \\w{3} \\d/.test(one.innerText))
  return text && slot
    ? { id: location.pathname.split('/').at(-1), text: text.value, said: slot.innerText.split('\\n')[0] }
    : undefined
})()`

interface Shown {
  id: string
  text: string
  said: string
}

const shownNext = ({ desk }: World, before: string | undefined): Promise<Shown> =>
  desk.read<Shown>(SHOWN, (shown) => shown !== undefined && shown.id !== before)

/** It takes the draft's place: added to it, it could make it too long. */
const EDITED = 'Nobody reads a list of features. We read what it did for one person.'

/** The kinds in turn; the last four are one of each, in the order in which they are undone. */
const planned = (nth: number): 'slot' | 'no time' | 'rejected' | 'edited' => {
  if (nth >= DECIDED - 4)
    return (['edited', 'rejected', 'no time', 'slot'] as const)[nth - DECIDED + 4]!
  return nth % 3 === 2 ? 'no time' : 'slot'
}

const decide = async (
  { desk }: World,
  { text, said }: Shown,
  how: ReturnType<typeof planned>,
): Promise<Pressed> => {
  if (how === 'slot') {
    await desk.press('s')
    return { how, text, said }
  }
  if (how === 'no time') {
    await desk.press('a')
    return { how, text }
  }
  if (how === 'rejected') {
    await desk.press('x', '2')
    return { how, text }
  }
  await desk.press('e', 'Control+a')
  await desk.type(EDITED)
  await desk.press('Control+Enter')
  return { how: 'slot', text: EDITED, said }
}

const timeOf = (at: string): string =>
  new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })

/** What the server has of the draft is what was pressed; otherwise says what is not. */
const differenceOf = async (
  { send }: Pick<World, 'send'>,
  id: string,
  { how, text, said }: Pressed,
): Promise<string | undefined> => {
  const { item } = await succeeded(send('GET', `items/${id}`))
  const wanted = {
    status: {
      slot: 'approved',
      'no time': 'approved',
      rejected: 'rejected',
      'posted now': 'posted',
    }[how],
    hash: sha256(text),
    time: how === 'slot' ? true : how === 'no time' ? null : item.post_at,
  }
  const time =
    how === 'slot' ? item.post_at !== null && said!.includes(timeOf(item.post_at)) : item.post_at
  const is = { status: item.status, hash: item.content_hash, time }
  return Bun.deepEquals(is, wanted)
    ? undefined
    : `draft ${id}: pressed ${how} (${said ?? 'no time'}), and it is ${JSON.stringify({ ...is, post_at: item.post_at })}`
}

export const differences = async (world: World): Promise<string[]> => {
  const found: string[] = []
  for (const [id, pressed] of world.pressed) {
    const difference = await differenceOf(world, id, pressed)
    if (difference !== undefined) found.push(difference)
  }
  return found
}

const decideAll = async (world: World): Promise<void> => {
  const { desk, log, pressed } = world
  await desk.press('j')
  let before: string | undefined
  const begun = performance.now()
  for (let nth = 0; nth < DECIDED; nth++) {
    const shown = await shownNext(world, before)
    pressed.set(shown.id, await decide(world, shown, planned(nth)))
    before = shown.id
  }
  await desk.sees('Nothing waits for you')
  const ms = performance.now() - begun
  requireThat(pressed.size === DECIDED, `${DECIDED} drafts were decided, not ${pressed.size}`)
  requireThat(ms < WITHIN_MS, `it took less than a minute, not ${ms} ms`)
  log(`${DECIDED} drafts decided in ${(ms / 1_000).toFixed(1)} s`)
}

/** Takes back the newest decisions, one of each kind, and makes them again. */
const undoEach = async (world: World): Promise<void> => {
  const { desk, log, pressed, send } = world
  const last = [...pressed].slice(-4).reverse()
  for (const [id, { how, text }] of last) {
    await desk.press('z')
    const item = await eventually(
      async () => (await succeeded(send('GET', `items/${id}`))).item,
      ({ status }) => status === 'drafted',
    )
    requireThat(item.content_hash === sha256(text), 'its text is the one that was decided')
    const { comments } = await succeeded(send('GET', `items/${id}/comments`))
    requireThat(comments.length === 0, 'the reason of the rejection went with it')
    log(`Z took back: ${how}`)
  }
  await desk.sees(`${last.length} waiting`)
}

const decideAgain = async (world: World): Promise<void> => {
  const { desk, pressed } = world
  await desk.press('j')
  let before: string | undefined
  for (const _ of [1, 2, 3, 4]) {
    const shown = await desk.read<Shown>(
      SHOWN,
      (one) => one !== undefined && one.id !== before && one.text === pressed.get(one.id)?.text,
    )
    const { how } = pressed.get(shown.id)!
    pressed.set(shown.id, await decide(world, shown, how === 'posted now' ? 'slot' : how))
    before = shown.id
  }
  await desk.sees('Nothing waits for you')
}

export const decideTwenty = async (world: World): Promise<void> => {
  await decideAll(world)
  const wrong = await differences(world)
  requireThat(wrong.length === 0, wrong.join('\n'))
  await undoEach(world)
  await decideAgain(world)
  const again = await differences(world)
  requireThat(again.length === 0, again.join('\n'))
  world.log('what the server has is what was pressed, text for text and time for time')
}
