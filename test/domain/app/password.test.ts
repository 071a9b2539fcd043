import { expect, test } from 'bun:test'
import { requireGoodPassword } from '#domain/app/password'
import { isCommonPassword } from '#kernel/common-passwords'

const takes = (password: string, email: string | null = 'person@example.com') => {
  try {
    requireGoodPassword(password, { email, path: 'password' })
    return true
  } catch {
    return false
  }
}

test('a password counts its characters as people do, without the spaces around it', () => {
  expect([takes('abcdefghi'), takes('abcdefghij')]).toEqual([false, true])
  expect([takes('🦊🦊🦊🦊🦊'), takes('🦊🐻🐼🦁🐯🐨🐰🐸🐵🦉')]).toEqual([false, true])
  expect([takes(' abcdefghi '), takes(' abcdefghij ')]).toEqual([false, true])
  expect([takes('a b c d e f'), takes('\u3000\u3000abcdefgh\u3000')]).toEqual([true, false])
})

test('a password is not the email address, however it is written', () => {
  expect([takes('Person@EXAMPLE.com'), takes('PERSON.NAME', 'person.name@example.com')]).toEqual([false, false])
  expect(takes('person.name', null)).toBe(true)
})

test('passwords that are tried first are known, and others of their form are not', () => {
  for (const one of ['1234567890', 'qwertyuiop', 'Password123', '1q2w3e4r5t', 'administrator', 'qwerty12345'])
    expect([one, isCommonPassword(one)]).toEqual([one, true])
  const others = Array.from({ length: 20_000 }, (_, index) => `not common ${index}`)
  expect(others.filter(isCommonPassword)).toEqual([])
})
