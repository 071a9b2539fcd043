/** From an empty folder to a person who is signed in, and to twenty drafts. */
import { softwareProfile } from '#test/support/growth/profiles'
import { olga, requireThat, succeeded, type World } from './world.ts'

/** Beside the five that are drafted from the page. */
const MORE = 15

/** What the first start prints, as its reader takes it from the screen. */
export const firstStartOf = (printed: string): { workspace: string; key: string; link: string } => {
  const workspace = /Workspace\s+([0-9a-f-]{36})/.exec(printed)?.[1]
  const key = /API key\s+(ak_\w+)/.exec(printed)?.[1]
  const link = /Owner\s.*(http\S+)/.exec(printed)?.[1]
  if (!workspace || !key || !link)
    throw new Error(`the first start did not print what it should:\n${printed}`)
  return { workspace, key, link }
}

const join = async ({ desk, log }: World, link: string): Promise<void> => {
  await desk.open(link)
  await desk.tabTo('Email')
  await desk.type(olga.email)
  await desk.tabTo('Name')
  await desk.type(olga.name)
  await desk.tabTo('Password')
  await desk.type(olga.password)
  await desk.press('Enter')
  await desk.waitForPath(/^\/console/)
  await desk.sees('Nothing waits for you')
  log('the link of the first start made an owner, whom it led to the console')
}

const rows = 'document.querySelectorAll(".row").length'

/** Whether the button that began a batch takes another press. */
const IS_FREE = `[...document.querySelectorAll('button')]
  .some((one) => one.innerText === 'Draft five' && one.ariaDisabled !== 'true')`

/** The composer drafts from the profile, whose page comes later. */
const draftFive = async ({ desk, send, log }: World): Promise<void> => {
  await desk.use('Draft five')
  await desk.sees('add stories or proof to the profile')
  await desk.read<boolean>(IS_FREE, (is) => is)
  await succeeded(send('PUT', 'profile', { body: softwareProfile }))
  await desk.use('Draft five')
  await desk.read<number>(rows, (count) => count === 5)
  log('Draft five: refused with a reason before there was a profile, then five drafts')
}

const draftMore = async ({ send, desk, log }: World): Promise<void> => {
  const { channels } = await succeeded(send('GET', 'channels'))
  const posts = channels.find(({ name }: { name: string }) => name === 'posts')
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
  const cadence = { days, times: ['08:30', '12:00', '16:00'] }
  await succeeded(send('PUT', `channels/${posts.id}`, { body: { cadence } }))
  await succeeded(send('POST', 'batches', { body: { count: MORE, focus: 'onboarding' } }))
  await desk.sees(`${5 + MORE} waiting`)
  log(`${MORE} more, which came into the open list by themselves`)
}

export const beginWith = async (world: World, link: string): Promise<void> => {
  await join(world, link)
  const { connections } = await succeeded(world.send('GET', 'connections'))
  requireThat(connections.length === 1, 'the first start connected the sandbox')
  await draftFive(world)
  await draftMore(world)
}
