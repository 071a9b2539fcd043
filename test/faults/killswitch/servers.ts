/**
 * Two servers whose steps to the network take a moment, and workspaces there whose posts are all
 * due.
 */
import type postgres from 'postgres'
import { createComposer } from '#port/model/composer/composer'
import { openThread } from '#port/model/worker/thread'
import { type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { newStory, type Story } from '#test/support/growth/story'
import { actUnattended } from './unattended.ts'

export interface World {
  apps: [TestApp, TestApp]
  owner: postgres.Sql
  next: () => number
}

const pickOf = ({ apps, next }: World): TestApp => apps[next() < 0.5 ? 0 : 1]

export const ordered = async (world: World, story: Story, action: 'pause-all' | 'resume-all') => {
  const reply = await story.at(pickOf(world)).send('POST', `automation/${action}`)
  if (reply.status !== 200) throw new Error(`${action}: ${reply.status} ${reply.text}`)
  return reply.body.automation as { in_flight: { item_id: string }[] }
}

/** Paused workspaces whose posts are all due. */
export const newStories = async (
  world: World,
  { items, workspaces }: { items: number; workspaces: number },
): Promise<Story[]> => {
  const stories: Story[] = []
  for (let made = 0; made < workspaces; made++) stories.push(await newStory(world.apps[0]))
  await world.owner`update tenant
    set overrides = ${world.owner.json({ create_batch: 10_000, posts: 100_000 })}`
  await Promise.all(stories.map((story) => ordered(world, story, 'pause-all')))
  await Promise.all(stories.map(actUnattended))
  await Promise.all(
    stories.map(async (story, place) => {
      for (let made = place; made < items; made += workspaces) await story.scheduled(0)
    }),
  )
  return stories
}

/**
 * Two servers whose steps to the network take a moment, so that pauses meet claims, sends and
 * answers.
 */
export const twoServers = async (
  stack: AsyncDisposableStack,
  next: () => number,
): Promise<World> => {
  const { options } = stack.use(await freshDb())
  const composer = createComposer(stack.use(openThread()))
  const slowed = /^(publish\.claimed|sandbox\.(received|applied)|publish\.sent)$/
  const overrides = {
    failpoints: (name: string) => (slowed.test(name) ? Bun.sleep(next() * 30) : undefined),
    drafter: {
      ...composer,
      draft: async (...asked: Parameters<typeof composer.draft>) => {
        await Bun.sleep(50 + next() * 150)
        return composer.draft(...asked)
      },
    },
  }
  const first = stack.use(await testApp({ database: options, overrides }))
  const second = stack.use(await testApp({ database: options, overrides }))
  return { apps: [first, second], owner: first.owner, next }
}
