"""Small trees on bins."""
