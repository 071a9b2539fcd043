import { expect, test } from 'bun:test'
import { commandLine, isCommand } from '#domain/agent/job/command'

test('a mail with a subject is read for its command', () => {
  expect(commandLine('Subject: urgent\n\n/automation pause-all')).toBe('/automation pause-all')
  expect(isCommand('Subject: /urgent\n\nPlease stop')).toBe(false)
  expect(isCommand('Subject: urgent\n\n/automation pause-all')).toBe(true)
})

test('the subject alone is no command, and nothing else of a text is cut', () => {
  expect(commandLine('Subject: /automation pause-all')).toBe('Subject: /automation pause-all')
  expect(commandLine('/items create --text "Subject: x\n\n/y"')).toBe(
    '/items create --text "Subject: x\n\n/y"',
  )
})
