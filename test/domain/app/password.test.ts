import { expect, test } from 'bun:test'
import { requireGoodPassword } from '#domain/app/password'
import { isCommonPassword } from '#kernel/common-passwords'

const accepts = (password: string, email: string | null = 'person@example.com') => {
  try {
    requireGoodPassword(password, { email, path: 'password' })
    return true
  } catch {
    return false
  }
}

test('a password counts its characters as people do, without surrounding spaces', () => {
  expect([accepts('abcdefghi'), accepts('abcdefghij')]).toEqual([false, true])
  expect([accepts('🦊🦊🦊🦊🦊'), accepts('🦊🐻🐼🦁🐯🐨🐰🐸🐵🦉')]).toEqual([false, true])
  expect([accepts(' abcdefghi '), accepts(' abcdefghij ')]).toEqual([false, true])
  expect([accepts('a b c d e f'), accepts('\u3000\u3000abcdefgh\u3000')]).toEqual([true, false])
})

test('a password cannot be the email address, in any case', () => {
  expect([
    accepts('Person@EXAMPLE.com'),
    accepts('PERSON.NAME', 'person.name@example.com'),
  ]).toEqual([false, false])
  expect(accepts('person.name', null)).toBe(true)
})

test('the most common passwords are recognised, and other texts of their form are not', () => {
  for (const one of [
    '1234567890',
    'qwertyuiop',
    'Password123',
    '1q2w3e4r5t',
    'administrator',
    'qwerty12345',
  ])
    expect([one, isCommonPassword(one)]).toEqual([one, true])
  const others = Array.from({ length: 20_000 }, (_, index) => `not common ${index}`)
  expect(others.filter(isCommonPassword)).toEqual([])
})
