/** Makes a picture of a page small: 256 colours are enough for it. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const COLOURS = 256

interface Header {
  width: number
  height: number
  /** 3 without transparency, 4 with it. */
  channels: number
}

const chunksOf = (png: Buffer): { type: string; data: Buffer }[] => {
  const chunks = []
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    chunks.push({ type, data: png.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  return chunks
}

/** Throws for what Chromium does not write: other depths, palettes, interlacing. */
const headerOf = (data: Buffer): Header => {
  const [depth, type, interlaced] = [data[8], data[9], data[12]]
  if (depth !== 8 || (type !== 2 && type !== 6) || interlaced !== 0)
    throw new Error('a PNG of another form')
  return {
    width: data.readUInt32BE(0),
    height: data.readUInt32BE(4),
    channels: type === 2 ? 3 : 4,
  }
}

const paeth = (left: number, up: number, corner: number): number => {
  const guess = left + up - corner
  const [toLeft, toUp, toCorner] = [guess - left, guess - up, guess - corner].map(Math.abs)
  if (toLeft! <= toUp! && toLeft! <= toCorner!) return left
  return toUp! <= toCorner! ? up : corner
}

const guessOf = (filter: number, left: number, up: number, corner: number): number =>
  [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!

/** The bytes of the pixels, without the filters of their lines. */
const pixelsOf = (raw: Buffer, { width, height, channels }: Header): Buffer => {
  const line = width * channels
  const pixels = Buffer.alloc(line * height)
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (line + 1)]!
    for (let x = 0; x < line; x++) {
      const at = y * line + x
      const left = x < channels ? 0 : pixels[at - channels]!
      const up = y === 0 ? 0 : pixels[at - line]!
      const corner = x < channels || y === 0 ? 0 : pixels[at - line - channels]!
      pixels[at] = raw[y * (line + 1) + 1 + x]! + guessOf(filter, left, up, corner)
    }
  }
  return pixels
}

const distance = (one: number, other: number): number =>
  [16, 8, 0].reduce((sum, shift) => {
    const apart = ((one >> shift) & 255) - ((other >> shift) & 255)
    return sum + apart * apart
  }, 0)

/** The most common first. */
const countsOf = (colours: Uint32Array): [colour: number, count: number][] => {
  const counts = new Map<number, number>()
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  return [...counts].sort(([, one], [, other]) => other - one)
}

/** Colours that nobody tells apart are one; else shades of grey would leave no place for a red. */
const ALIKE = 0xf0f0f0

/** The most common colours, and for each colour the place of the nearest of them. */
const paletteOf = (colours: Uint32Array): { palette: number[]; places: Map<number, number> } => {
  const sorted = countsOf(colours)
  const chosen = new Map<number, number>()
  for (const [colour] of sorted) if (!chosen.has(colour & ALIKE)) chosen.set(colour & ALIKE, colour)
  const first = [...chosen.values()].slice(0, COLOURS / 2)
  const palette = [...new Set([...first, ...sorted.map(([colour]) => colour)])].slice(0, COLOURS)
  const nearest = (colour: number): number =>
    palette.reduce(
      (best, one, place) =>
        distance(one, colour) < distance(palette[best]!, colour) ? place : best,
      0,
    )
  return { palette, places: new Map(sorted.map(([one]) => [one, nearest(one)])) }
}

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

export const smallPng = (png: Buffer): Buffer => {
  const chunks = chunksOf(png)
  const first = chunks[0]!.data
  const header = headerOf(first)
  const data = chunks.filter(({ type }) => type === 'IDAT').map((one) => one.data)
  const pixels = pixelsOf(inflateSync(Buffer.concat(data)), header)
  const { width, height, channels } = header
  const colours = Uint32Array.from({ length: width * height }, (_, pixel) =>
    pixels.readUIntBE(pixel * channels, 3),
  )
  const { palette, places } = paletteOf(colours)
  const lines = Buffer.alloc((width + 1) * height)
  colours.forEach((colour, pixel) => {
    lines[pixel + Math.floor(pixel / width) + 1] = places.get(colour)!
  })
  const head = Buffer.from(first)
  // A palette, and one byte a pixel.
  head[9] = 3
  const table = Buffer.concat(
    palette.map((colour) => Buffer.from([colour >> 16, (colour >> 8) & 255, colour & 255])),
  )
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', table),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
