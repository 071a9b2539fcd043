/** What every page does with characters that nobody sees. */
import { expect, test } from 'bun:test'
import { countUnseen, html, markupOf } from '#edge/pages/html'
import { field, pageResponse } from '#edge/pages/layout'

const HIDDEN = 'pay\u202e <now>\u{e0041}'
const MARKED = 'pay<mark>[U+202E]</mark> &lt;now&gt;<mark>[U+E0041]</mark>'

test('a page shows what nobody sees as codes, counts it, and warns of it, wherever a text stands', async () => {
  const body = html`<p>${HIDDEN}</p><ul>${['a', 'b\u200b'].map((one) => html`<li>${one}</li>`)}</ul>`
  const text = await pageResponse({
    title: 'T\u2066',
    body,
    problems: [{ says: 'no\u200b' }],
    status: 400,
  }).text()
  expect(text).toContain(`<p>${MARKED}</p>`)
  expect(text).toContain('<li>b<mark>[U+200B]</mark></li>')
  expect(text).toContain('<title>Error: T[U+2066] · Tendril</title>')
  expect(text).toContain('<h1>T<mark>[U+2066]</mark></h1>')
  expect(text).toContain('<li>no<mark>[U+200B]</mark></li>')
  expect(text).toContain('This page has 5 characters that nobody would see')
  expect(text).not.toMatch(/[\u200b\u202e\u2066]|\u{e0041}/u)
})

test('a page without any has no warning', async () => {
  const text = await pageResponse({
    title: 'T',
    body: html`<p>${'👨‍👩‍👧‍👦 می‌خواهم\n\ttwo'}</p>`,
  }).text()
  expect(text).toContain('<p>👨‍👩‍👧‍👦 می‌خواهم\n\ttwo</p>')
  expect(text).not.toMatch(/<mark>|nobody would see/)
})

test('what a form sends back stays as it is, and its unseen characters are shown below', () => {
  const area = html`${field({ name: 'text', label: 'Text', autocomplete: 'off', lines: 3, value: HIDDEN })}`
  expect(markupOf(area)).toContain('>\npay\u202e &lt;now&gt;\u{e0041}</textarea>')
  expect(markupOf(area)).toContain(`<div class="text" dir="auto">${MARKED}</div>`)
  expect(countUnseen(area)).toBe(2)
  const line = html`${field({ name: 'name', label: 'Name', autocomplete: 'off', value: 'a\u200b"' })}`
  expect(markupOf(line)).toContain('value="a\u200b&quot;"')
  expect([markupOf(line).includes('a<mark>[U+200B]</mark>&quot;'), countUnseen(line)]).toEqual([
    true,
    1,
  ])
  const secret = html`${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'off', value: '\u200b' })}`
  expect(countUnseen(secret)).toBe(0)
})

test('where no element can stand, marks are text', () => {
  const option = html`<select><option value="${'x\u200b'}">${'a\u200b<'}</option></select>${'c\u200b'}`
  expect(markupOf(option)).toBe(
    '<select><option value="x\u200b">a[U+200B]&lt;</option></select>c<mark>[U+200B]</mark>',
  )
  expect(countUnseen(option)).toBe(2)
})
