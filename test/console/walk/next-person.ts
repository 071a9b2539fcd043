/** Signing out with a text that is not saved, and what the next person at this browser finds. */
import type { Desk } from './desk.ts'
import { lena, olga, type Person, requireThat, succeeded, type World } from './world.ts'

const TYPED = 'Nobody else may read this sentence'

/** All that this browser keeps and shows. */
const KEPT = `(async () => {
  const databases = await indexedDB.databases()
  const fields = [...document.querySelectorAll('input, textarea')].map(({ value }) => value)
  const caches = await globalThis.caches.keys()
  return JSON.stringify([
    { ...localStorage }, { ...sessionStorage }, databases, caches, fields, document.body.innerHTML,
  ])
})()`

const hasTyped = async (desk: Desk): Promise<boolean> =>
  (await desk.read<string>(KEPT)).includes(TYPED)

const signOut = async (desk: Desk, { name }: Person): Promise<void> => {
  await desk.use(`${name[0]}\n${name}`)
  await desk.use('Sign out')
}

const signIn = async (desk: Desk, { email, password }: Person): Promise<void> => {
  await desk.waitForPath(/^\/sign-in/)
  await desk.tabTo('Email')
  await desk.type(email)
  await desk.tabTo('Password')
  await desk.type(password)
  await desk.press('Enter')
  await desk.waitForPath(/^\/console/)
}

/** Types a text that is not sent. */
const typeOnly = async ({ desk }: World): Promise<void> => {
  await desk.goTo('inbox')
  await desk.press('c')
  await desk.sees('Write a post')
  await desk.type(TYPED)
  await desk.read<string>('JSON.stringify({ ...localStorage })', (kept) => kept.includes(TYPED))
  await desk.press('Escape')
  await desk.seesNoMore('Write a post')
}

const leave = async ({ desk }: World): Promise<void> => {
  await signOut(desk, olga)
  await desk.sees('A text is not saved')
  await desk.press('Escape')
  await desk.seesNoMore('A text is not saved')
  requireThat(await hasTyped(desk), 'who goes back has lost nothing')
  await signOut(desk, olga)
  await desk.use('Sign out and lose them')
  await desk.waitForPath(/^\/sign-in/)
  requireThat(!(await hasTyped(desk)), 'nothing typed stays behind a signed-out browser')
}

/** The owner invites Lena by the settings that come later. */
const invitation = async ({ binary, log }: World, workspace: string): Promise<string> => {
  const flags = ['--workspace', workspace, '--role', 'editor']
  const { sign_in_url: link } = await binary.admin('member', 'invite', ...flags)
  log('the binary made an invitation for another person')
  return link as string
}

const lookAround = async ({ desk }: World): Promise<void> => {
  await desk.waitForPath(/^\/console/)
  await desk.sees('Nothing waits for you')
  await desk.press('c')
  await desk.sees('Write a post')
  requireThat(!(await hasTyped(desk)), 'the next person finds nothing that the last one typed')
  await desk.press('Escape')
  await desk.seesNoMore('Write a post')
}

export const nextPerson = async (world: World, workspace: string): Promise<void> => {
  const { desk, log } = world
  await typeOnly(world)
  await leave(world)
  await desk.open(await invitation(world, workspace))
  await desk.tabTo('Email')
  await desk.type(lena.email)
  await desk.tabTo('Name')
  await desk.type(lena.name)
  await desk.tabTo('Password')
  await desk.type(lena.password)
  await desk.press('Enter')
  await lookAround(world)
  await signOut(desk, lena)
  await signIn(desk, olga)
  await lookAround(world)
  await succeeded(world.send('GET', 'overview'))
  log('signing out asked about a text that was not saved; nobody found it afterwards')
}
