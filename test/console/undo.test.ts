/** What Z takes back while an act is still being answered. */
import { expect, test } from 'bun:test'
import { addUndo, undo } from '#src/console/frame/notices'

test('Z waits for the answer and takes back that act; a refused one is no step', async () => {
  const undone: string[] = []
  const act = (answer: Promise<string>) => addUndo(answer, (what) => void undone.push(what))
  act(Promise.resolve('the first'))
  const second = Promise.withResolvers<string>()
  act(second.promise)
  const takingBack = undo()
  await Bun.sleep(0)
  expect(undone).toEqual([])
  second.resolve('the second')
  await takingBack
  expect(undone).toEqual(['the second'])

  const pressedFirst = Promise.withResolvers<string>()
  act(pressedFirst.promise)
  const inVain = undo()
  pressedFirst.reject(new Error('refused'))
  await inVain
  act(Promise.reject(new Error('refused')))
  await Bun.sleep(0)
  await undo()
  expect(undone).toEqual(['the second', 'the first'])
})
